"""What waits on a flow's topics, as Pulsar's admin API tells it; nothing is taken or changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from fourtier.runtime.bus.pulsar.admin import AdminConfig, PulsarAdmin, open_admin
from fourtier.runtime.bus.pulsar.connection import VERSION_PROPERTY
from fourtier.runtime.bus.pulsar.provisioning import BusNeeds

#: Exact numbers; finding the oldest message means to read it.
_PRECISELY = {"getPreciseBacklog": "true", "getEarliestTimeInBacklog": "true"}


class _Told(BaseModel):
    """What Pulsar tells, under its own names."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Consumer(_Told):
    metadata: Mapping[str, str] = {}


class _Group(_Told):
    msg_backlog: int
    earliest_msg_publish_time_in_backlog: int = 0
    consumers: Sequence[_Consumer] = ()

    @property
    def oldest_at(self) -> float:
        return max(0, self.earliest_msg_publish_time_in_backlog) / 1000 if self.msg_backlog else 0.0


class _Stats(_Told):
    backlog_size: int = 0
    backlog_quota_limit_size: int = -1
    subscriptions: Mapping[str, _Group]

    @property
    def quota_used(self) -> float:
        limit = self.backlog_quota_limit_size
        return self.backlog_size / limit if limit > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits on a topic for one of its groups.

    Attributes:
        exists: whether messages are kept for the group at all.
        messages: how many it has not acknowledged.
        oldest_at: when the oldest of them was published, in Unix seconds; 0 where none waits.
        versions: of Fourtier, of each replica that takes messages; empty where it does not say.
        quota_used: share of what the broker keeps on the topic before it refuses to take more.
    """

    topic: str
    group: str
    exists: bool = False
    messages: int = 0
    oldest_at: float = 0.0
    versions: Sequence[str] = ()
    quota_used: float = 0.0


async def read_queues(place: AdminConfig, needs: BusNeeds) -> list[Queue]:
    """Every queue that a flow needs, also those that are not there; dead letters stand last.

    Raises:
        StartupError: the admin API cannot be reached, or refuses us.
    """
    wanted = [
        *sorted(needs.groups.items()),
        *sorted(needs.dead_letters.items()),
    ]
    async with open_admin(place) as admin:
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


async def read_version(place: AdminConfig) -> str:
    """The version of the broker.

    Raises:
        StartupError: as `read_queues`.
    """
    async with open_admin(place) as admin:
        return await admin.version()


async def _read(admin: PulsarAdmin, path: Sequence[str]) -> _Stats | None:
    """A topic's numbers; those of one that somebody has divided are its parts' together."""
    for kind in ("stats", "partitioned-stats"):
        if (stats := await admin.get(_Stats, "persistent", *path, kind, **_PRECISELY)) is not None:
            return stats
    return None


def _queue(topic: str, group: str, stats: _Stats | None) -> Queue:
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
