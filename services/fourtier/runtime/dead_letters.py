"""Look at what services could not handle, and send it again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from fourtier.runtime import envelope
from fourtier.runtime.burial import dead_letter_address
from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode, Subscription
from fourtier.runtime.host import OPERATOR

#: Property of a message that marks the end of what is there; it is no dead letter.
_MARK = "end-mark"
_DEAD = "dead-"
#: The mark comes at once; it does not when another operator reads the same letters.
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message as it was, and why it could not be handled.

    Attributes:
        kept: whether its topic is a persistent one.
    """

    id: str
    service: str
    topic: str
    key: str
    error: str
    attempts: int
    kept: bool
    at: datetime
    payload: bytes
    delivery: Delivery


async def list_dead_letters(bus: Bus, service: str) -> list[DeadLetter]:
    """All dead letters of a service; they stay where they are."""
    async with _letters(bus, service) as letters:
        return [letter async for letter in letters]


async def replay_dead_letters(bus: Bus, service: str) -> int:
    """Send all dead letters of a service again; returns how many.

    Each is on its own topic, kept by the broker, before it leaves the dead letters.
    """
    replayed = 0
    async with _letters(bus, service) as letters:
        async for letter in letters:
            properties = {
                name: value
                for name, value in letter.delivery.properties.items()
                if not name.startswith(_DEAD)
                and name not in {envelope.REPLY_TO, envelope.DEADLINE}  # nobody waits any more
            }
            await bus.publish(
                Address(letter.topic, persistent=letter.kept),
                letter.payload,
                key=letter.key,
                properties=properties,
            )
            await letter.delivery.acknowledge()
            replayed += 1
    return replayed


@asynccontextmanager
async def _letters(bus: Bus, service: str) -> AsyncGenerator[AsyncIterator[DeadLetter]]:
    address = dead_letter_address(service)
    mark = envelope.new_id()
    async with bus.subscribe(address, OPERATOR, Mode.SHARED) as subscription:
        await bus.publish(address, b"", properties={_MARK: mark})
        yield _until(subscription, mark, service)


async def _until(subscription: Subscription, mark: str, service: str) -> AsyncIterator[DeadLetter]:
    """Letters until the mark; older marks of readers that were cut off are cleared away."""
    while True:
        try:
            async with asyncio.timeout(_PATIENCE):
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
    properties = delivery.properties
    return DeadLetter(
        id=properties.get(envelope.ID) or delivery.id,
        service=service,
        topic=properties["dead-topic"],
        key=properties["dead-key"],
        error=properties["dead-error"],
        attempts=int(properties["dead-attempts"]),
        kept=properties["dead-kept"] == "true",
        at=datetime.fromtimestamp(int(properties["dead-at"]) / 1000, UTC),
        payload=delivery.payload,
        delivery=delivery,
    )
