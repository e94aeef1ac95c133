"""What waits on a flow's topics, as Pulsar's admin API tells it; nothing is taken or changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from fourtier.runtime.burial import dead_letter_address
from fourtier.runtime.bus.pulsar import VERSION_PROPERTY
from fourtier.runtime.host import OPERATOR
from fourtier.runtime.provisioning.admin import AdminPlace, PulsarAdmin, open_admin
from fourtier.runtime.provisioning.bus import BusNeeds

#: Exact numbers; finding the oldest message means to read it.
_PRECISELY = {"getPreciseBacklog": "true", "getEarliestTimeInBacklog": "true"}


class _Consumer(BaseModel):
    metadata: Mapping[str, str] = {}


class _Group(BaseModel):
    msgBacklog: int  # noqa: N815 - Pulsar's names
    earliestMsgPublishTimeInBacklog: int = 0  # noqa: N815
    consumers: Sequence[_Consumer] = ()


class _Stats(BaseModel):
    backlogSize: int = 0  # noqa: N815
    backlogQuotaLimitSize: int = -1  # noqa: N815
    subscriptions: Mapping[str, _Group]


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


async def read_queues(place: AdminPlace, needs: BusNeeds) -> list[Queue]:
    """Every queue that a flow needs, also those that are not there; dead letters stand last.

    Raises:
        StartupError: the admin API cannot be reached, or refuses us.
    """
    wanted = [
        *sorted(needs.groups.items()),
        *((dead_letter_address(service).name, [OPERATOR]) for service in needs.services),
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


async def read_version(place: AdminPlace) -> str:
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
        messages=found.msgBacklog,
        oldest_at=max(0, found.earliestMsgPublishTimeInBacklog) / 1000 if found.msgBacklog else 0,
        versions=[each.metadata.get(VERSION_PROPERTY, "") for each in found.consumers],
        quota_used=stats.backlogSize / limit if (limit := stats.backlogQuotaLimitSize) > 0 else 0.0,
    )
