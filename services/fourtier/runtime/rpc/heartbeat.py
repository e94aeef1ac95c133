"""Signs of life: who works at a question for long says so, and who hears nothing asks again.

An answer that streams may be long in coming: a model thinks, a run waits for its turn. Or it never
comes: the service was killed with the question in hand, or the broker with the answer. The caller
cannot tell the one from the other by waiting, so it asks for signs by the property `signs`.
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

#: Seconds between two signs.
_EVERY = 1.5


@dataclass(frozen=True, slots=True)
class Silence:
    """How long a caller that asked for signs bears to hear nothing.

    Attributes:
        first: seconds until it asks again; more than two signs may get lost in it.
        longest: seconds; each further silence is twice as long as the one before, up to this.
    """

    first: float = 5.0
    longest: float = 20.0


class Signs:
    """Tells callers that their questions are in hand."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._inboxes: dict[str, str] = {}

    def begin(self, around: Envelope) -> bool:
        """A question was taken; False when it was in hand already and is asked once more."""
        new = around.id not in self._inboxes
        if around.reply_to is not None and around.signs:
            self._inboxes[around.id] = around.reply_to
        return new

    def end(self, around: Envelope) -> None:
        """The last answer is out, or there will be none."""
        self._inboxes.pop(around.id, None)

    async def tell(self) -> None:
        """Send a sign for each question in hand, again and again."""
        while True:
            await asyncio.sleep(_EVERY)
            await asyncio.gather(*(self._tell(*each) for each in list(self._inboxes.items())))

    async def _tell(self, question: str, inbox: str) -> None:
        properties = {envelope.ID: question, envelope.ALIVE: "true"}
        try:
            await self._bus.publish(Address(inbox, persistent=False), b"", properties=properties)
        except BusError as error:
            log.debug("No sign could be sent to %s: %s", inbox, error)


@asynccontextmanager
async def signs_on(bus: Bus) -> AsyncGenerator[Signs]:
    """Send signs while the context is open."""
    signs = Signs(bus)
    telling = asyncio.create_task(signs.tell(), name="signs")
    try:
        yield signs
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
