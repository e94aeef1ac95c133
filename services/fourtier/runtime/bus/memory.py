"""`memory://`: the bus contract inside one process, for unit tests. It keeps nothing."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from zlib import crc32

from fourtier.runtime.bus.contract import Address, BusError, Delivery, Mode

#: A group that comes later finds at most so many of a topic's messages.
_KEPT = 10_000


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

    name: str
    persistent: bool
    members: list[_Member] = field(default_factory=list)
    waiting: deque[Delivery] = field(default_factory=deque)
    unacknowledged: dict[str, tuple[_Member, Delivery]] = field(default_factory=dict)
    turn: int = 0
    #: Who has a key's messages in hand, and how many.
    keys: dict[str, tuple[_Member, int]] = field(default_factory=dict)

    def offer(self, delivery: Delivery) -> None:
        if not self.members:
            self.waiting.append(delivery)
            return
        member = self._choose(delivery.key)

        async def acknowledge() -> None:
            self._forget(delivery)

        mine = replace(delivery, acknowledge=acknowledge)
        if self.persistent:
            self.unacknowledged[delivery.id] = (member, mine)
            if delivery.key:
                _, number = self.keys.get(delivery.key, (member, 0))
                self.keys[delivery.key] = (member, number + 1)
        member.queue.put_nowait(mine)

    def _choose(self, key: str) -> _Member:
        if key and self.members[0].mode is Mode.KEY_SHARED:
            if key in self.keys:
                return self.keys[key][0]  # a key moves only when nothing of it is in hand
            return self.members[crc32(key.encode()) % len(self.members)]
        self.turn = (self.turn + 1) % len(self.members)
        return self.members[self.turn]

    def _forget(self, delivery: Delivery) -> None:
        if self.unacknowledged.pop(delivery.id, None) is None or not delivery.key:
            return
        member, number = self.keys[delivery.key]
        if number > 1:
            self.keys[delivery.key] = (member, number - 1)
        else:
            del self.keys[delivery.key]

    def join(self, member: _Member) -> None:
        taken = self.members[0].mode if self.members else member.mode
        if taken is not member.mode or (self.members and taken is Mode.EXCLUSIVE):
            raise BusError(f"cannot subscribe as {self.name}: the group has {taken.value} members")
        self.members.append(member)
        waiting, self.waiting = self.waiting, deque()
        for delivery in waiting:
            self.offer(delivery)

    def leave(self, member: _Member) -> None:
        self.members.remove(member)
        returned = [d for holder, d in self.unacknowledged.values() if holder is member]
        for delivery in returned:
            self._forget(delivery)
        for delivery in returned:
            self.offer(replace(delivery, redelivered=True))


class MemoryBus:
    """Topics as queues in this process."""

    def __init__(self) -> None:
        self._topics: dict[Address, dict[str, _Group]] = {}
        self._kept: dict[Address, deque[Delivery]] = {}
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
            self._kept.setdefault(address, deque(maxlen=_KEPT)).append(delivery)
        for group in self._topics.get(address, {}).values():
            if address.persistent or group.members:
                group.offer(delivery)
        await asyncio.sleep(0)

    @asynccontextmanager
    async def subscribe(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[_Member]:
        """Join a group of the topic.

        Raises:
            BusError: the group is exclusive and has a member, or its members are of another mode.
        """
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
            kept = deque(self._kept.get(address, ()))
            groups[group] = _Group(group, address.persistent, waiting=kept)


async def _nothing_to_acknowledge() -> None:
    """Stand in until a delivery has a member."""
