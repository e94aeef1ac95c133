"""What a namespace of Pulsar does with messages: the flow's wishes, and what is set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.bus.pulsar.admin import Body

_MINUTES_PER_HOUR, _BYTES_PER_MEGABYTE = 60, 1024 * 1024
SECONDS_PER_DAY = 86_400
#: The kind of backlog quota that counts bytes on disk.
_STORAGE = "destination_storage"


class _Retention(BaseModel):
    minutes: int = Field(validation_alias="retentionTimeInMinutes")
    megabytes: int = Field(validation_alias="retentionSizeInMB")


class _Backlog(BaseModel):
    bytes: int = Field(validation_alias="limitSize")
    seconds: int = Field(validation_alias="limitTime")
    policy: str


class _TopicCreation(BaseModel):
    allowed: bool = Field(validation_alias="allowAutoTopicCreation")
    kind: str = Field(validation_alias="topicType")


class Policies(BaseModel):
    """What is set for a namespace, as far as a flow sets it; None where the broker's rule holds."""

    retention: _Retention | None = Field(default=None, validation_alias="retention_policies")
    message_ttl: int | None = Field(default=None, validation_alias="message_ttl_in_seconds")
    backlogs: dict[str, _Backlog] = Field(default={}, validation_alias="backlog_quota_map")
    topic_creation: _TopicCreation | None = Field(
        default=None, validation_alias="autoTopicCreationOverride"
    )
    group_expiry: int | None = Field(
        default=None, validation_alias="subscription_expiration_time_minutes"
    )


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy of a namespace.

    Attributes:
        path: below the namespace's own address.
        body: what is wanted, as Pulsar takes it.
        is_so: whether it is set to that; None where nothing is set.
    """

    name: str
    note: str
    path: str
    body: Body
    is_so: bool | None
    query: Mapping[str, str] = field(default_factory=dict)


def policies(wanted: RetentionPolicy, there: Policies) -> Iterator[Policy]:
    """All that a flow sets, in an order that Pulsar takes."""
    retention, backlog = _retention(wanted, there), _backlog(wanted, there)
    retention_first = _exceeds(wanted, there.backlogs.get(_STORAGE))
    yield from [retention, backlog] if retention_first else [backlog, retention]
    ttl = wanted.message_ttl_days * SECONDS_PER_DAY
    note = f"{wanted.message_ttl_days} days" if ttl else "messages never expire"
    yield Policy("message TTL", note, "messageTTL", ttl, _same(there.message_ttl, ttl))
    # Callers' inboxes come and go; a broker may forbid that, or make several topics of each.
    creation = {"allowAutoTopicCreation": True, "topicType": "non-partitioned"}
    yield Policy(
        "topic creation",
        "for the inboxes of callers",
        "autoTopicCreation",
        creation,
        _same(there.topic_creation, _TopicCreation.model_validate(creation)),
    )
    # A broker may drop groups that nobody was in for a while, and their messages with them.
    yield Policy(
        "group expiry",
        "groups never expire",
        "subscriptionExpirationTime",
        0,
        _same(there.group_expiry, 0),
    )


def _retention(wanted: RetentionPolicy, there: Policies) -> Policy:
    hours, megabytes = wanted.retention_hours, wanted.retention_megabytes
    body = {
        "retentionTimeInMinutes": hours * _MINUTES_PER_HOUR,
        "retentionSizeInMB": megabytes if hours else 0,  # Pulsar takes both or none
    }
    note = f"{hours} hours, {megabytes} MB" if hours else "nothing once it was handled"
    is_so = _same(there.retention, _Retention.model_validate(body))
    return Policy("retention", note, "retention", body, is_so)


def _backlog(wanted: RetentionPolicy, there: Policies) -> Policy:
    body = {
        "limitSize": wanted.backlog_megabytes * _BYTES_PER_MEGABYTE,
        "limitTime": -1,
        # A caller that gets an error can retry later; one that is held up does not know why.
        "policy": "producer_exception",
    }
    note = f"{wanted.backlog_megabytes} MB, then publishing is rejected"
    is_so = _same(there.backlogs.get(_STORAGE), _Backlog.model_validate(body))
    query = {"backlogQuotaType": _STORAGE}
    return Policy("backlog quota", note, "backlogQuota", body, is_so, query)


def _exceeds(wanted: RetentionPolicy, backlog: _Backlog | None) -> bool:
    """Whether retention can be set while the present backlog quota holds: it has to be above."""
    above = wanted.retention_megabytes * _BYTES_PER_MEGABYTE
    return backlog is None or not wanted.retention_hours or above > backlog.bytes


def _same(there: object, wanted: object) -> bool | None:
    return None if there is None else there == wanted
