"""`memory://`: the bus contract inside one process, for unit tests. It keeps nothing."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from zlib import crc32

from fourtier.runtime.bus.contract import Address, Delivery, Mode


@dataclass(eq=False)
class _Member:
    mode: Mode
    queue: asyncio.Queue[Delivery] = field(default_factory=asyncio.Queue)

    async def receive(self) -> Delivery:
        return await self.queue.get()

    def arrived(self, limit: int) -> Sequence[Delivery]:
        return [self.queue.get_nowait() for _ in range(min(limit, self.queue.qsize()))]


@dataclass(eq=False)
class _Group:
    """Deliveries that wait for a member, and those that a member has not acknowledged."""

    members: list[_Member] = field(default_factory=list)
    waiting: deque[Delivery] = field(default_factory=deque)
    unacknowledged: OrderedDict[str, tuple[_Member, Delivery]] = field(default_factory=OrderedDict)

    def offer(self, delivery: Delivery) -> None:
        if not self.members:
            self.waiting.append(delivery)
            return
        member = self._choose(delivery)

        async def acknowledge() -> None:
            self.unacknowledged.pop(delivery.id, None)

        mine = replace(delivery, acknowledge=acknowledge)
        self.unacknowledged[delivery.id] = (member, mine)
        member.queue.put_nowait(mine)

    def _choose(self, delivery: Delivery) -> _Member:
        if delivery.key and self.members[0].mode is Mode.KEY_SHARED:
            for member, other in self.unacknowledged.values():
                if other.key == delivery.key:
                    return member  # a key moves only when nothing of it is in hand
            return self.members[crc32(delivery.key.encode()) % len(self.members)]
        return min(self.members, key=lambda member: member.queue.qsize())

    def join(self, member: _Member) -> None:
        self.members.append(member)
        waiting, self.waiting = self.waiting, deque()
        for delivery in waiting:
            self.offer(delivery)

    def leave(self, member: _Member) -> None:
        self.members.remove(member)
        returned = [d for m, d in self.unacknowledged.values() if m is member]
        for delivery in returned:
            del self.unacknowledged[delivery.id]
        for delivery in returned:
            self.offer(replace(delivery, redelivered=True))


class MemoryBus:
    """Topics as queues in this process."""

    def __init__(self) -> None:
        self._topics: dict[Address, dict[str, _Group]] = {}
        self._kept: dict[Address, list[Delivery]] = {}
        self._ids = count(1)

    async def publish(
        self,
        address: Address,
        payload: bytes,
        *,
        key: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Put the message into every group of the topic."""
        delivery = Delivery(
            id=f"memory-{next(self._ids)}",
            payload=payload,
            properties=dict(properties or {}),
            key=key,
            published_at=time.time(),
            redelivered=False,
            acknowledge=_nothing_to_acknowledge,
        )
        if address.persistent:
            self._kept.setdefault(address, []).append(delivery)
        for group in self._topics.get(address, {}).values():
            if address.persistent or group.members:
                group.offer(delivery)
        await asyncio.sleep(0)

    @asynccontextmanager
    async def subscribe(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[_Member]:
        """Join a group of the topic."""
        await self.create_group(address, group)
        joined = self._topics[address][group]
        member = _Member(mode)
        joined.join(member)
        try:
            yield member
        finally:
            joined.leave(member)
            if not address.persistent and not joined.members:
                del self._topics[address][group]

    async def create_group(self, address: Address, group: str) -> None:
        """Create the group, with all that the topic has kept."""
        groups = self._topics.setdefault(address, {})
        if group not in groups:
            groups[group] = _Group(waiting=deque(self._kept.get(address, ())))

    async def forget_producer(self, address: Address) -> None:
        """Nothing is held for publishing."""


async def _nothing_to_acknowledge() -> None:
    """Stand in until a delivery has a member."""
