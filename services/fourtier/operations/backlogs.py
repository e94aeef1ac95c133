"""The backlog of a flow's topics, read by Pulsar's admin API; nothing is consumed or changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from fourtier.runtime.bus.pulsar.admin import AdminConfig, PulsarAdmin, open_admin
from fourtier.runtime.bus.pulsar.connection import VERSION_PROPERTY
from fourtier.runtime.bus.pulsar.provisioning import BusNeeds

#: Exact numbers; to know the age of the oldest message the broker reads it.
_PRECISELY = {"getPreciseBacklog": "true", "getEarliestTimeInBacklog": "true"}


class _AdminModel(BaseModel):
    """What the admin API returns, under its own names."""

    model_config = ConfigDict(alias_generator=to_camel)


class _ConsumerStats(_AdminModel):
    metadata: Mapping[str, str] = {}


class _SubscriptionStats(_AdminModel):
    msg_backlog: int
    earliest_msg_publish_time_in_backlog: int = 0
    consumers: Sequence[_ConsumerStats] = ()

    @property
    def oldest_at(self) -> float:
        return max(0, self.earliest_msg_publish_time_in_backlog) / 1000 if self.msg_backlog else 0.0


class _TopicStats(_AdminModel):
    backlog_size: int = 0
    backlog_quota_limit_size: int = -1
    subscriptions: Mapping[str, _SubscriptionStats]

    @property
    def quota_used(self) -> float:
        limit = self.backlog_quota_limit_size
        return self.backlog_size / limit if limit > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Queue:
    """The backlog of one subscription to a topic.

    Attributes:
        group: the name of the subscription; it is the service's.
        exists: whether there is such a subscription, for which the broker stores messages.
        messages: how many it has not acknowledged.
        oldest_at: when the oldest of them was published, in Unix seconds; 0 where none waits.
        versions: of Fourtier, of each replica that takes messages; empty where it does not say.
        quota_used: share of the backlog quota; beyond the quota nothing can be published.
    """

    topic: str
    group: str
    exists: bool = False
    messages: int = 0
    oldest_at: float = 0.0
    versions: Sequence[str] = ()
    quota_used: float = 0.0


async def read_queues(config: AdminConfig, needs: BusNeeds) -> list[Queue]:
    """Every queue that a flow needs, also one that is not there; dead letters stand last.

    Raises:
        StartupError: the admin API cannot be reached, or does not let us in.
    """
    wanted = [
        *sorted(needs.groups.items()),
        *sorted(needs.dead_letters.items()),
    ]
    async with open_admin(config) as admin:
        if await admin.get(list[str], "persistent", needs.tenant, needs.namespace) is None:
            return [Queue(topic, group) for topic, groups in wanted for group in groups]
        read = await asyncio.gather(
            *(_read(admin, (needs.tenant, needs.namespace, topic)) for topic, _ in wanted)
        )
    return [
        _queue(topic, group, stats)
        for (topic, groups), stats in zip(wanted, read, strict=True)
        for group in groups
    ]


async def read_version(config: AdminConfig) -> str:
    """The version of the broker.

    Raises:
        StartupError: as `read_queues`.
    """
    async with open_admin(config) as admin:
        return await admin.version()


async def _read(admin: PulsarAdmin, path: Sequence[str]) -> _TopicStats | None:
    """The statistics of a topic; a partitioned topic has the sums over its partitions."""
    for kind in ("stats", "partitioned-stats"):
        if (
            stats := await admin.get(_TopicStats, "persistent", *path, kind, **_PRECISELY)
        ) is not None:
            return stats
    return None


def _queue(topic: str, group: str, stats: _TopicStats | None) -> Queue:
    found = stats.subscriptions.get(group) if stats is not None else None
    if stats is None or found is None:
        return Queue(topic, group)
    return Queue(
        topic,
        group,
        exists=True,
        messages=found.msg_backlog,
        oldest_at=found.oldest_at,
        versions=[each.metadata.get(VERSION_PROPERTY, "") for each in found.consumers],
        quota_used=stats.quota_used,
    )
