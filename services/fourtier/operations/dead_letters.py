"""List the messages that services could not handle, send them again, and remove them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.rpc import dead_letter_queue as queue
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address, is_malformed

#: Property of a message that marks the end of what is there; it is not a dead letter.
_MARK = "end-mark"
#: Seconds. The mark comes at once, unless another operator reads the same dead letters.
_MARK_TIMEOUT = 5.0
#: What all properties of the dead-letter queue begin with.
_PREFIX = "dead-"
#: Properties of the caller, who does not wait for an answer any more.
_CALLERS = {envelope.REPLY_TO, envelope.TIMEOUT}
#: Dead letters that are returned at most; the rest are only counted.
_MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message as it was, and why it could not be handled.

    Attributes:
        id: of the message.
        error: why it could not be handled.
        attempts: how often it was tried.
        persistent: whether its topic is a persistent one.
        at: when it was given to the dead-letter queue.
        properties: those that the message had.
        delivery: the message in the dead-letter queue.
    """

    id: str
    service: str
    topic: str
    key: str
    error: str
    attempts: int
    persistent: bool
    at: datetime
    payload: bytes
    properties: Mapping[str, str]
    delivery: Delivery

    @property
    def is_malformed(self) -> bool:
        """Whether nobody can read it, so that it fails again at each replay."""
        return is_malformed(self.error)


@dataclass(slots=True)
class DeadLetters:
    """The dead letters of a service.

    Attributes:
        total: how many there are; where `complete` is False, at least so many.
        oldest: the first of them, oldest first.
        complete: whether all were counted in the time that there was.
    """

    total: int = 0
    oldest: list[DeadLetter] = field(default_factory=list)
    complete: bool = False


async def read_dead_letters(
    bus: Bus, service: str, *, limit: int = _MAX_LISTED, within: float | None = None
) -> DeadLetters:
    """Count the dead letters of a service, and return the oldest; they stay where they are.

    No more than `limit` of them are held in memory, however many there are.

    Args:
        bus: of the flow.
        service: whose dead letters.
        limit: how many are returned at most.
        within: seconds after which counting ends; None counts all.

    Raises:
        BusError: the bus failed.
    """
    found = DeadLetters()
    try:
        async with asyncio.timeout(within), _reading(bus, service) as letters:
            async for letter in letters:
                found.total += 1
                if found.total <= limit:
                    found.oldest.append(letter)
            found.complete = True
    except TimeoutError:  # what was counted is worth telling
        return found
    return found


async def list_dead_letters(
    bus: Bus, service: str, *, limit: int = _MAX_LISTED
) -> list[DeadLetter]:
    """The oldest dead letters of a service; they stay where they are.

    Raises:
        BusError: the bus failed.
    """
    return (await read_dead_letters(bus, service, limit=limit)).oldest


async def replay_dead_letters(
    bus: Bus, service: str, *, wanted: Callable[[DeadLetter], bool] = lambda _: True
) -> int:
    """Send dead letters of a service again; returns how many.

    The broker has each on its own topic before it leaves the dead-letter queue. One that fails
    again while this runs is a new dead letter, and is not sent a second time.

    Raises:
        BusError: one could not be sent; it and those behind it stay in the dead-letter queue.
    """
    replayed = 0
    async with _reading(bus, service) as letters:
        async for letter in letters:
            if not letter.topic or not wanted(letter):
                continue
            await bus.publish(
                Address(letter.topic, persistent=letter.persistent),
                letter.payload,
                key=letter.key,
                properties={
                    name: value for name, value in letter.properties.items() if name not in _CALLERS
                },
            )
            await letter.delivery.acknowledge()
            replayed += 1
    return replayed


async def remove_dead_letters(
    bus: Bus, service: str, *, wanted: Callable[[DeadLetter], bool], dry_run: bool = False
) -> int:
    """Remove dead letters of a service without sending them again; returns how many.

    With `dry_run` they are only counted. What another operator reads at the same time is not seen.

    Raises:
        BusError: the bus failed; what was removed by then is gone.
    """
    removed = 0
    async with _reading(bus, service) as letters:
        async for letter in letters:
            if wanted(letter):
                removed += 1
                if not dry_run:
                    await letter.delivery.acknowledge()
    return removed


@asynccontextmanager
async def _reading(bus: Bus, service: str) -> AsyncGenerator[AsyncIterator[DeadLetter]]:
    """The dead letters that are there now, up to a mark that is published behind them."""
    address = dead_letter_address(service)
    mark = envelope.new_id()
    async with bus.subscribe(address, OPERATOR, Mode.SHARED) as subscription:
        await bus.publish(address, b"", properties={_MARK: mark})
        yield _until(subscription, mark, service)


async def _until(subscription: Subscription, mark: str, service: str) -> AsyncIterator[DeadLetter]:
    """Dead letters until the mark; marks of readers that were cut off are removed."""
    while True:
        try:
            async with asyncio.timeout(_MARK_TIMEOUT):
                delivery = await subscription.receive()
        except TimeoutError:
            return
        if _MARK not in delivery.properties:
            yield _dead_letter(delivery, service)
            continue
        await delivery.acknowledge()
        if delivery.properties[_MARK] == mark:
            return


def _dead_letter(delivery: Delivery, service: str) -> DeadLetter:
    """Read a dead letter; one that another program has put there may lack our properties."""
    properties = delivery.properties
    at = int(properties.get(queue.AT, "0")) / 1000 or delivery.published_at
    return DeadLetter(
        id=properties.get(envelope.ID) or delivery.id,
        service=service,
        topic=properties.get(queue.TOPIC, ""),
        key=properties.get(queue.KEY, delivery.key),
        error=properties.get(queue.REASON, "no reason given"),
        attempts=int(properties.get(queue.ATTEMPTS, "0")),
        persistent=properties.get(queue.PERSISTENT, "true") == "true",
        at=datetime.fromtimestamp(at, UTC),
        payload=delivery.payload,
        properties={
            name: value for name, value in properties.items() if not name.startswith(_PREFIX)
        },
        delivery=delivery,
    )
