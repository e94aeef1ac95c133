"""The producers of one connection: made when first needed, shared by all who publish."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio

from fourtier.runtime.bus.contract import (
    Address,
    BusError,
    RejectedByBusError,
    UnconfirmedError,
)

log = logging.getLogger(__name__)

#: The client fails a send at 1,000 pending messages; stay well below and wait instead.
_IN_FLIGHT = 500
#: Inboxes come and go with callers, and anybody may name one: so many producers are enough.
_MAX_PRODUCERS = 256
#: Seconds after which an unused producer of a topic that is not persistent is closed. Where it is
#: the last one, Pulsar removes the topic.
_IDLE = 60.0
#: After these a producer never works again; the next message gets a new one.
_GONE = {
    pulsar.Result.AlreadyClosed,
    pulsar.Result.ProducerFenced,
    pulsar.Result.ProducerNotInitialized,
}
#: After these the same message fails again, however often it is sent.
_REJECTED = {
    pulsar.Result.AuthenticationError,
    pulsar.Result.AuthorizationError,
    pulsar.Result.InvalidMessage,
    pulsar.Result.InvalidTopicName,
    pulsar.Result.MessageTooBig,
    pulsar.Result.NotAllowedError,
    pulsar.Result.TopicTerminated,
}


class _Producer:
    """One producer, with a bound on what is under way."""

    def __init__(self, creating: "asyncio.Future[Any]") -> None:
        # A future, so that all who wait get the same producer, and that none is lost when the
        # one who asked first is cancelled.
        self._creating = creating
        self._room = asyncio.Semaphore(_IN_FLIGHT)
        self._users = 0
        self._used_at = time.monotonic()

    def idle(self) -> float:
        """Seconds since it was used; 0 while it is."""
        return 0.0 if self._users else time.monotonic() - self._used_at

    @asynccontextmanager
    async def borrowed(self) -> AsyncGenerator[Any]:
        self._users += 1
        try:
            producer = await asyncio.shield(self._creating)
            async with self._room:
                yield producer
        finally:
            self._users -= 1
            self._used_at = time.monotonic()

    def is_made(self) -> bool:
        done = self._creating.done() and not self._creating.cancelled()
        return done and self._creating.exception() is None

    def is_given_up(self) -> bool:
        """Whether it was closed before it was made."""
        return self._creating.cancelled()

    async def close(self) -> None:
        producer = await self._creating
        await producer.close()


class Producers:
    """Makes, stores and closes producers.

    Args:
        create: makes one for an address; raises PulsarException.
    """

    def __init__(self, create: Callable[[Address], Awaitable[Any]]) -> None:
        self._create = create
        #: The one that was used last stands last.
        self._made: OrderedDict[Address, _Producer] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._made)

    @asynccontextmanager
    async def borrowed(self, address: Address) -> AsyncGenerator[Any]:
        """The address's producer for sending one message and waiting for the broker's receipt.

        Raises:
            RejectedByBusError: the broker never takes this message.
            UnconfirmedError: there was no receipt in time.
            BusError: it was not sent.
        """
        producer = self._get(address)
        try:
            async with producer.borrowed() as made:
                yield made
        except pulsar_asyncio.PulsarException as error:
            if error.error() in _GONE and self._made.get(address) is producer:
                self._close_soon(address)
            raise _translated(address, error, is_made=producer.is_made()) from error
        except asyncio.CancelledError:
            sender = asyncio.current_task()
            if producer.is_given_up() and sender is not None and not sender.cancelling():
                raise BusError(f"{address.name}: cannot publish: the bus is closed") from None
            raise

    def _get(self, address: Address) -> _Producer:
        producer = self._made.get(address)
        if producer is None:
            self._close_unused()
            creating = asyncio.ensure_future(self._create(address))
            producer = self._made[address] = _Producer(creating)
            creating.add_done_callback(lambda _: self._drop_failed(address, producer))
        self._made.move_to_end(address)
        return producer

    def _drop_failed(self, address: Address, producer: _Producer) -> None:
        """The next message makes another one, unless there is one already."""
        if not producer.is_made() and self._made.get(address) is producer:
            del self._made[address]

    def _close_unused(self) -> None:
        """Close what has been idle for long, and make room for one more."""
        too_many = len(self._made) + 1 - _MAX_PRODUCERS
        for address, producer in list(self._made.items()):
            idle = producer.idle()
            if idle and (too_many > 0 or (idle > _IDLE and not address.persistent)):
                too_many -= 1
                self._close_soon(address)

    def _close_soon(self, address: Address) -> None:
        closing = asyncio.create_task(
            _close(address, self._made.pop(address)), name=f"close {address.name}"
        )
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all at once; one that cannot be closed does not keep the others open."""
        for address in list(self._made):
            self._close_soon(address)
        for failed in await asyncio.gather(*self._closing, return_exceptions=True):
            if failed is not None:
                log.warning("A producer was not closed in order: %r", failed)


async def _close(address: Address, producer: _Producer) -> None:
    try:
        await producer.close()
    except pulsar_asyncio.PulsarException as error:
        log.debug("The producer for %s was not closed in order: %s", address.name, error)


def _translated(
    address: Address, error: pulsar_asyncio.PulsarException, *, is_made: bool
) -> BusError:
    what = "not sent" if is_made else "cannot publish"
    if error.error() in _REJECTED:
        return RejectedByBusError(f"{address.name}: {what}: {error}")
    if is_made and error.error() == pulsar.Result.Timeout:
        return UnconfirmedError(f"{address.name}: no receipt: {error}")
    return BusError(f"{address.name}: {what}: {error}")
