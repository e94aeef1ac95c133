"""Wait for a condition, never for a time."""

import asyncio
from collections.abc import Awaitable, Callable


async def wait_until(
    condition: Callable[[], bool | Awaitable[bool]], *, within: float = 60.0
) -> None:
    """Return as soon as the condition holds; fail when it does not in time."""
    try:
        async with asyncio.timeout(within):
            while True:
                holds = condition()
                if not isinstance(holds, bool):
                    holds = await holds
                if holds:
                    return
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"did not come true within {within:g} seconds") from None
