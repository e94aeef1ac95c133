"""Which transport a URL means."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.bus.embedded.broker import embedded_broker
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.errors import StartupError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BusConfig:
    """Where the bus is and which part of it is ours.

    Attributes:
        url: `embedded`, `memory://`, `pulsar://...` or `pulsar+ssl://...`.
        data: the flow's data directory; the embedded broker keeps its messages below it.
        port: for the embedded broker; 0 takes a free one.
    """

    url: str
    tenant: str
    namespace: str
    data: Path
    port: int = 6650
    security: PulsarSecurity = PulsarSecurity()


@asynccontextmanager
async def open_bus(place: BusConfig) -> AsyncGenerator[tuple[Bus, str]]:
    """Connect; yields the bus and the URL by which others reach it.

    Raises:
        StartupError: the URL is of no known kind, or there is no broker.
    """
    if place.url == "memory://":
        log.warning("The bus is memory://: it keeps nothing and reaches no other process.")
        yield MemoryBus(), place.url
        return
    async with AsyncExitStack() as stack:
        url, client_log = place.url, "/dev/stderr"
        if url == "embedded":
            url = await stack.enter_async_context(embedded_broker(place.data / "bus", place.port))
            client_log = str(place.data / "bus" / "client.log")
        elif not url.startswith(("pulsar://", "pulsar+ssl://")):
            raise StartupError(
                f"{url!r} is no bus: write embedded, memory://, pulsar://HOST:PORT "
                f"or pulsar+ssl://HOST:PORT"
            )
        try:
            bus = await stack.enter_async_context(
                connect_pulsar(
                    url, place.tenant, place.namespace, security=place.security, log_file=client_log
                )
            )
        except BusError as error:
            raise StartupError(str(error)) from error
        yield bus, url
