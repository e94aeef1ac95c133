"""What every service answers about itself, without a word of its own: `fourtier doctor` asks it."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.runtime.service.declaration import Service
from fourtier.schema.status import StatusRequest, StatusResponse, StoreCount, status_of

log = logging.getLogger(__name__)

#: Long before the caller retries: an engine that is unavailable is waited for much longer.
_COUNT_TIMEOUT = 2.0


def status_route(name: str, service: Service) -> Route:
    """The route by which a service that starts now reports its state."""
    started_at, ours = datetime.now(UTC), version("fourtier")

    async def status(_request: StatusRequest) -> StatusResponse:
        counts, problem = await _count(name, service)
        return StatusResponse(
            version=ours, started_at=started_at, store_counts=tuple(counts), store_problem=problem
        )

    return call_route(status_of(name), status)


async def _count(name: str, service: Service) -> tuple[Sequence[StoreCount], str]:
    """The counts of a service's stores, or why there are none: the doctor asks in trouble."""
    try:
        async with asyncio.timeout(_COUNT_TIMEOUT):
            return await service.store_counts(), ""
    except TimeoutError:
        return (), f"its stores did not answer within {_COUNT_TIMEOUT:g} seconds"
    except Exception as error:  # noqa: BLE001 - of any engine; it goes to the caller
        log.warning("The stores of %s cannot be counted: %s", name, error)
        return (), str(error) or type(error).__name__
