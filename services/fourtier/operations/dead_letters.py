"""Look at what services could not handle, and send it again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.rpc import dead_letter_queue as queue
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address

#: Property of a message that marks the end of what is there; it is no dead letter.
_MARK = "end-mark"
#: The mark comes at once; it does not when another operator reads the same letters.
_TIMEOUTS = 5.0
_DEAD = "dead-"
#: Of the one who waited for an answer then, and has gone.
_CALLERS = {envelope.REPLY_TO, envelope.TIMEOUT}


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message as it was, and why it could not be handled.

    Attributes:
        id: the message's own name.
        persistent: whether its topic is a persistent one.
        properties: those that the message had.
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


async def list_dead_letters(bus: Bus, service: str) -> list[DeadLetter]:
    """All dead letters of a service; they stay where they are."""
    async with _letters(bus, service) as letters:
        return [letter async for letter in letters]


async def replay_dead_letters(
    bus: Bus, service: str, *, wanted: Callable[[DeadLetter], bool] = lambda _: True
) -> int:
    """Send dead letters of a service again; returns how many.

    Each is on its own topic, kept by the broker, before it leaves the dead letters. What fails once
    more while this runs is a new dead letter, and not sent a second time.
    """
    replayed = 0
    async with _letters(bus, service) as letters:
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


@asynccontextmanager
async def _letters(bus: Bus, service: str) -> AsyncGenerator[AsyncIterator[DeadLetter]]:
    """What is there now, up to a mark that is put at the end of it."""
    address = dead_letter_address(service)
    mark = envelope.new_id()
    async with bus.subscribe(address, OPERATOR, Mode.SHARED) as subscription:
        await bus.publish(address, b"", properties={_MARK: mark})
        yield _until(subscription, mark, service)


async def _until(subscription: Subscription, mark: str, service: str) -> AsyncIterator[DeadLetter]:
    """Letters until the mark; older marks of readers that were cut off are cleared away."""
    while True:
        try:
            async with asyncio.timeout(_TIMEOUTS):
                delivery = await subscription.receive()
        except TimeoutError:
            return
        if _MARK not in delivery.properties:
            yield _letter(delivery, service)
            continue
        await delivery.acknowledge()
        if delivery.properties[_MARK] == mark:
            return


def _letter(delivery: Delivery, service: str) -> DeadLetter:
    """Read a letter; one that another program has put there need not have our properties."""
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
            name: value for name, value in properties.items() if not name.startswith(_DEAD)
        },
        delivery=delivery,
    )
