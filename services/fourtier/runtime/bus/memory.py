"""`memory://`: the bus contract inside one process, for unit tests. It stores nothing."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from zlib import crc32

from fourtier.runtime.bus.contract import Address, BusError, Delivery, Mode
from fourtier.runtime.bus.local import LocalCalls

#: The maximum of a topic's messages that a group finds that is created later.
_MAX_STORED = 10_000


@dataclass(eq=False)
class _Consumer:
    mode: Mode
    queue: asyncio.Queue[Delivery] = field(default_factory=asyncio.Queue)

    async def receive(self) -> Delivery:
        return await self.queue.get()

    def arrived(self, limit: int) -> Sequence[Delivery]:
        return [self.queue.get_nowait() for _ in range(min(limit, self.queue.qsize()))]

    def hand_over(self, delivery: Delivery) -> bool:
        self.queue.put_nowait(delivery)
        return True


@dataclass(eq=False)
class _Group:
    """Deliveries that wait for a consumer, and those that a consumer has not acknowledged."""

    name: str
    persistent: bool
    consumers: list[_Consumer] = field(default_factory=list)
    waiting: deque[Delivery] = field(default_factory=deque)
    unacknowledged: dict[str, tuple[_Consumer, Delivery]] = field(default_factory=dict)
    turn: int = 0
    #: Who has messages of a key in flight, and how many.
    keys: dict[str, tuple[_Consumer, int]] = field(default_factory=dict)

    def offer(self, delivery: Delivery) -> None:
        if not self.consumers:
            self.waiting.append(delivery)
            return
        consumer = self._choose(delivery.key)

        async def acknowledge() -> None:
            self._forget(delivery)

        mine = replace(delivery, acknowledge=acknowledge)
        if self.persistent:
            self.unacknowledged[delivery.id] = (consumer, mine)
            if delivery.key:
                _, number = self.keys.get(delivery.key, (consumer, 0))
                self.keys[delivery.key] = (consumer, number + 1)
        consumer.queue.put_nowait(mine)

    def _choose(self, key: str) -> _Consumer:
        if key and self.consumers[0].mode is Mode.KEY_SHARED:
            if key in self.keys:
                return self.keys[key][0]  # a key moves only when nothing of it is in flight
            return self.consumers[crc32(key.encode()) % len(self.consumers)]
        self.turn = (self.turn + 1) % len(self.consumers)
        return self.consumers[self.turn]

    def _forget(self, delivery: Delivery) -> None:
        if self.unacknowledged.pop(delivery.id, None) is None or not delivery.key:
            return
        consumer, number = self.keys[delivery.key]
        if number > 1:
            self.keys[delivery.key] = (consumer, number - 1)
        else:
            del self.keys[delivery.key]

    def join(self, consumer: _Consumer) -> None:
        taken = self.consumers[0].mode if self.consumers else consumer.mode
        if taken is not consumer.mode or (self.consumers and taken is Mode.EXCLUSIVE):
            raise BusError(
                f"cannot subscribe as {self.name}: the group has {taken.value} consumers"
            )
        self.consumers.append(consumer)
        waiting, self.waiting = self.waiting, deque()
        for delivery in waiting:
            self.offer(delivery)

    def leave(self, consumer: _Consumer) -> None:
        self.consumers.remove(consumer)
        returned = [d for holder, d in self.unacknowledged.values() if holder is consumer]
        for delivery in returned:
            self._forget(delivery)
        for delivery in returned:
            self.offer(replace(delivery, redelivered=True))


class MemoryBus:
    """Topics as queues in this process."""

    def __init__(self, local: LocalCalls | None = None) -> None:
        self.local = local
        self._topics: dict[Address, dict[str, _Group]] = {}
        self._stored: dict[Address, deque[Delivery]] = {}
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
            self._stored.setdefault(address, deque(maxlen=_MAX_STORED)).append(delivery)
        for group in self._topics.get(address, {}).values():
            if address.persistent or group.consumers:
                group.offer(delivery)
        await asyncio.sleep(0)

    @asynccontextmanager
    async def subscribe(
        self, address: Address, group: str, mode: Mode
    ) -> AsyncGenerator[_Consumer]:
        """Join a group of the topic.

        Raises:
            BusError: the group is exclusive and taken, or its consumers are of another mode.
        """
        await self.create_group(address, group)
        joined = self._topics[address][group]
        consumer = _Consumer(mode)
        joined.join(consumer)
        try:
            yield consumer
        finally:
            joined.leave(consumer)
            if not address.persistent and not joined.consumers:
                del self._topics[address][group]

    async def create_group(self, address: Address, group: str) -> None:
        """Create the group, with all stored messages of the topic."""
        groups = self._topics.setdefault(address, {})
        if group not in groups:
            stored = deque(self._stored.get(address, ()))
            groups[group] = _Group(group, address.persistent, waiting=stored)


async def _nothing_to_acknowledge() -> None:
    """Stand in until a delivery has a consumer."""
