"""A line of the doctor's table, and what it says where nothing could be found."""

import asyncio
from collections.abc import Awaitable, Sequence

from pydantic import BaseModel

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError

#: Seconds for which the doctor waits for a server that does not answer.
_WITHIN = 20.0
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class Finding(BaseModel):
    """One line. What is well may have a remedy too: something that could be better."""

    what: str
    well: bool
    found: str
    remedy: str = ""


async def checked(
    what: str,
    looking: Awaitable[Sequence[Finding]],
    remedy: str,
    *,
    within: float | None = None,
) -> list[Finding]:
    """What was found, or one line that says why it could not be looked at."""
    seconds = within or _WITHIN
    try:
        async with asyncio.timeout(seconds):
            return list(await looking)
    except TimeoutError:
        found = f"no answer within {seconds:g} seconds"
    except (FourtierError, BusError) as error:
        found = str(error)
    return [Finding(what=what, well=False, found=found, remedy=remedy)]


def duration(seconds: float) -> str:
    """A time as people say it."""
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"
