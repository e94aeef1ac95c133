"""What every service answers about itself, without a word of its own: `fourtier doctor` asks it."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Protocol, runtime_checkable

from fourtier.runtime.rpc.routes import Route, answer
from fourtier.runtime.service.context import RunningService
from fourtier.schema.status import Kept, StatusRequest, StatusResponse, status_of

log = logging.getLogger(__name__)

#: Long before the caller asks once more: an engine that is away is waited for much longer.
_COUNTS_WITHIN = 2.0


@runtime_checkable
class Keeper(Protocol):
    """An open service that has stores, and can say how much is in them."""

    async def kept(self) -> Sequence[Kept]:
        """Count all scopes together."""
        ...


def status_route(name: str, service: RunningService) -> Route:
    """The route by which a service that starts now tells how it is."""
    started_at, ours = datetime.now(UTC), version("fourtier")

    async def status(_request: StatusRequest) -> StatusResponse:
        kept, trouble = await _count(name, service)
        return StatusResponse(
            version=ours, started_at=started_at, kept=tuple(kept), trouble=trouble
        )

    return answer(status_of(name), status)


async def _count(name: str, service: RunningService) -> tuple[Sequence[Kept], str]:
    """What a service keeps, or why that cannot be told: it is asked for when something is wrong."""
    if not isinstance(service, Keeper):
        return (), ""
    try:
        async with asyncio.timeout(_COUNTS_WITHIN):
            return await service.kept(), ""
    except TimeoutError:
        return (), f"its stores did not answer within {_COUNTS_WITHIN:g} seconds"
    except Exception as error:  # noqa: BLE001 - of any engine; it goes to who asked
        log.warning("What %s keeps cannot be counted: %s", name, error)
        return (), str(error) or type(error).__name__
