"""Heartbeats: who works on a question for long says so, and a caller that hears none retries.

An answer that streams may be long in coming: a model thinks, a run waits for its turn. Or it never
comes: the service was killed with the question in flight, or the broker with the answer. The caller
cannot tell the one from the other by waiting, so it asks for heartbeats by the property
`heartbeat`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.runtime.bus.contract import Address, Bus, BusError
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.envelope import Envelope

log = logging.getLogger(__name__)

#: Seconds between two heartbeats.
_INTERVAL = 1.5


@dataclass(frozen=True, slots=True)
class HeartbeatTimeout:
    """How long a caller waits without a heartbeat or an answer before it retries.

    Attributes:
        first: seconds; more than two heartbeats may get lost in it.
        longest: seconds; each further timeout is twice as long as the one before, up to this.
    """

    first: float = 5.0
    longest: float = 20.0


class Heartbeats:
    """Tells callers that their questions are in flight."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._inboxes: dict[str, str] = {}

    def begin(self, received: Envelope) -> bool:
        """A question was taken; False when it was in flight already and is sent once more."""
        new = received.id not in self._inboxes
        if received.reply_to is not None and received.wants_heartbeats:
            self._inboxes[received.id] = received.reply_to
        return new

    def end(self, received: Envelope) -> None:
        """The last answer is out, or there will be none."""
        self._inboxes.pop(received.id, None)

    async def beat(self) -> None:
        """Send a heartbeat for each question in flight, again and again."""
        while True:
            await asyncio.sleep(_INTERVAL)
            await asyncio.gather(*(self._beat(*each) for each in list(self._inboxes.items())))

    async def _beat(self, question: str, inbox: str) -> None:
        properties = {envelope.ID: question, envelope.HEARTBEAT: "true"}
        try:
            await self._bus.publish(Address(inbox, persistent=False), b"", properties=properties)
        except BusError as error:
            log.debug("No heartbeat could be sent to %s: %s", inbox, error)


@asynccontextmanager
async def heartbeats_on(bus: Bus) -> AsyncGenerator[Heartbeats]:
    """Send heartbeats while the context is open."""
    heartbeats = Heartbeats(bus)
    beating = asyncio.create_task(heartbeats.beat(), name="heartbeats")
    try:
        yield heartbeats
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
