"""Heartbeats: a service sends them while a question is in flight; a caller that gets none retries.

The answer of a stream may take long: a model thinks, a run waits for its turn. Or it never comes:
the service was killed with the question in flight, or the broker with the answer. A caller cannot
tell these apart by waiting, so it asks for heartbeats by the property `heartbeat`.
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
    """Sends heartbeats to callers whose questions are in flight."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[tuple[str | None, str], Envelope] = {}

    def begin(self, received: Envelope) -> bool:
        """A question was taken; False when it was in flight already and is sent once more."""
        new = _caller_of(received) not in self._waiting
        if received.reply_to is not None and received.wants_heartbeats:
            self._waiting[_caller_of(received)] = received
        return new

    def end(self, received: Envelope) -> None:
        """The last answer is out, or there will be none."""
        self._waiting.pop(_caller_of(received), None)

    def cancel(self, call: str) -> None:
        """Nobody waits for the answers of a call any more."""
        for received in [each for each in self._waiting.values() if each.call == call]:
            self.end(received)

    async def beat(self) -> None:
        """Send a heartbeat for each question in flight, again and again."""
        while True:
            await asyncio.sleep(_INTERVAL)
            await asyncio.gather(*(self._beat(each) for each in list(self._waiting.values())))

    async def _beat(self, received: Envelope) -> None:
        if received.reply_to is None:
            return
        inbox = Address(received.reply_to, persistent=False)
        properties = {
            envelope.ID: received.id,
            envelope.CALL: received.call,
            envelope.HEARTBEAT: "true",
        }
        try:
            await self._bus.publish(inbox, b"", properties=properties)
        except BusError as error:
            log.debug("No heartbeat could be sent to %s: %s", inbox.name, error)


def _caller_of(received: Envelope) -> tuple[str | None, str]:
    """Inbox and call: a client without calls of its own may give the id of another client."""
    return received.reply_to, received.call


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
