"""One consumer of a group on a topic, over the Pulsar client's."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pulsar.asyncio as pulsar_asyncio

from fourtier.runtime.bus.contract import BusError, Delivery
from fourtier.runtime.recent_ids import RecentIds

log = logging.getLogger(__name__)

T = TypeVar("T")

#: How many messages a consumer may hold that it has not begun: enough to make batches, few enough
#: that a second replica still finds work.
PREFETCH = 200


class Consumer:
    """Moves what the client library receives into a queue, so that what has arrived can be seen.

    After a broken connection the broker sends again whatever it has no acknowledgement for: also
    what is in flight here, and what was just acknowledged. Neither is delivered once more.
    """

    def __init__(self, *, persistent: bool) -> None:
        self._persistent = persistent
        self._queue: asyncio.Queue[Delivery | None] = asyncio.Queue(PREFETCH)
        self._failure: BusError | None = None
        self._in_flight: set[str] = set()
        #: In case the broker has not heard of it.
        self._acknowledged = RecentIds()

    async def pump(self, consumer: Any) -> None:
        """Receive from a consumer until it is closed."""
        try:
            while True:
                message = await consumer.receive()
                delivery = self._delivery(consumer, message)
                if not self._persistent:
                    await self._queue.put(delivery)
                elif delivery.id in self._acknowledged:
                    await _acknowledge_again(consumer, message)
                elif delivery.id not in self._in_flight:
                    self._in_flight.add(delivery.id)
                    await self._queue.put(delivery)
        except Exception as error:  # noqa: BLE001 - `receive` raises it, and nobody hangs
            await self.fail(BusError(f"receiving failed: {error}"))

    async def fail(self, error: BusError) -> None:
        """Nothing more will come; `receive` raises why."""
        self._failure = error
        await self._queue.put(None)

    async def receive(self) -> Delivery:
        """Wait for the next message.

        Raises:
            BusError: the subscription is gone.
        """
        delivery = await self._queue.get()
        if delivery is None:
            self._queue.put_nowait(None)  # for later calls
            raise self._failure or BusError("receiving failed")
        return delivery

    def arrived(self, limit: int) -> Sequence[Delivery]:
        """Take at most `limit` messages that are already here, without waiting."""
        here: list[Delivery] = []
        while len(here) < limit and not self._queue.empty():
            delivery = self._queue.get_nowait()
            if delivery is None:
                self._queue.put_nowait(None)  # for `receive`, which raises it
                break
            here.append(delivery)
        return here

    def hand_over(self, delivery: Delivery) -> bool:
        """Put a message of this process behind those that have arrived, if there is room."""
        if self._failure is not None or self._queue.full():
            return False
        self._queue.put_nowait(delivery)
        return True

    def _delivery(self, consumer: Any, message: Any) -> Delivery:
        message_id = message.message_id()
        # The partition too: the same numbers can be given in two partitions of a topic.
        name = (
            f"{message_id.ledger_id()}:{message_id.entry_id()}"
            f":{message_id.partition()}:{message_id.batch_index()}"
        )

        async def acknowledge() -> None:
            if self._persistent:
                await self._acknowledge(consumer, message, name)

        return Delivery(
            id=name,
            payload=message.data(),
            properties=_readable(message.properties, {}),
            key=_readable(message.partition_key, ""),
            published_at=message.publish_timestamp() / 1000,
            redelivered=message.redelivery_count() > 0,
            acknowledge=acknowledge,
        )

    async def _acknowledge(self, consumer: Any, message: Any, name: str) -> None:
        self._in_flight.discard(name)
        self._acknowledged.add(name)
        try:
            await consumer.acknowledge(message)
        except pulsar_asyncio.PulsarException as error:
            self._acknowledged.discard(name)
            raise BusError(f"not acknowledged, so it will come again: {error}") from error


async def _acknowledge_again(consumer: Any, message: Any) -> None:
    """If it fails too, the broker sends the message once more, and there is another chance."""
    try:
        await consumer.acknowledge(message)
    except pulsar_asyncio.PulsarException as error:
        log.debug("A message that was handled could not be acknowledged again: %s", error)


def _readable(read: Callable[[], T], otherwise: T) -> T:
    """What another program has sent need not be text: better without it than not at all."""
    try:
        return read()
    except UnicodeDecodeError:
        return otherwise
