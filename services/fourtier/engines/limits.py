"""Time limits for what a store is asked, so that one that stops answering stalls nobody."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fourtier.runtime.errors import UnavailableError


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """How long one call of a store may take, `engines.query-seconds` of the flow.

    Attributes:
        store: the store's name and address, for the error.
    """

    store: str
    seconds: float

    @asynccontextmanager
    async def applied(self) -> AsyncGenerator[None]:
        """Cancel what takes longer.

        Raises:
            UnavailableError: it took longer. A write may have been carried out all the same.
        """
        limit = asyncio.timeout(self.seconds)
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():  # a time-out of somebody else
                raise
            raise self.exceeded() from error

    def exceeded(self) -> UnavailableError:
        """The error of a call that took too long."""
        return UnavailableError(
            f"{self.store} did not answer within {self.seconds:g} seconds "
            f"(engines.query-seconds of the flow)"
        )
