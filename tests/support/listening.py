"""Receive what services send to each other."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fourtier.runtime.bus.contract import Address, Bus, Mode, Subscription
from fourtier.runtime.rpc import envelope
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic

M = TypeVar("M", bound=Message)

#: Seconds; a test must not wait longer for a message that is never sent.
_WITHIN = 60.0


@dataclass
class Listener(Generic[M]):
    """The messages on a topic, in the order in which they were sent.

    Attributes:
        ids: the message ids, one for each message in `heard`.
    """

    topic: Topic[M]
    subscription: Subscription
    received: list[M] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    async def next(self) -> M:
        """Wait for one message; fail when none comes in time."""
        try:
            async with asyncio.timeout(_WITHIN):
                delivery = await self.subscription.receive()
        except TimeoutError:
            raise AssertionError(
                f"no message on {self.topic.name} within {_WITHIN:g} seconds"
            ) from None
        await delivery.acknowledge()
        self.received.append(self.topic.payload.model_validate_json(delivery.payload))
        self.ids.append(delivery.properties[envelope.ID])
        return self.received[-1]

    async def take(self, number: int) -> list[M]:
        """Wait for so many messages."""
        return [await self.next() for _ in range(number)]


@asynccontextmanager
async def listening(bus: Bus, topic: Topic[M]) -> AsyncGenerator[Listener[M]]:
    """Receive a topic's messages from now on, beside the services that handle them."""
    address = Address(topic.name, persistent=topic.persistent)
    async with bus.subscribe(address, "test-listener", Mode.SHARED) as subscription:
        yield Listener(topic, subscription)
