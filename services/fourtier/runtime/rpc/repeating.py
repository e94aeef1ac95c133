"""A query that is asked again while the service, or the bus, is away."""

from typing import TypeVar

import stamina

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.message import Message
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


async def ask_until_answered(caller: Caller, query: Call[Q, A], question: Q, *, pause: float) -> A:
    """Ask until there is an answer; whoever calls this says for how long (`asyncio.timeout`).

    Args:
        caller: asks.
        query: changes nothing, so that it may be asked any number of times.
        question: what is asked.
        pause: seconds between two attempts.

    Raises:
        CallFailedError: the service answered with another error than that it is unavailable.
    """
    async for attempt in stamina.retry_context(
        on=(UnavailableError, BusError),
        attempts=None,
        timeout=None,
        wait_initial=pause,
        wait_max=pause,
        wait_jitter=0,
    ):
        with attempt:
            return await caller.call(query, question)
    raise AssertionError("there is always another attempt")
