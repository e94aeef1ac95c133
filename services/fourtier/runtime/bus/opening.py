"""Which transport a URL means."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.bus.embedded.access_token import read_token
from fourtier.runtime.bus.embedded.limits import TopicLimits
from fourtier.runtime.bus.local import LocalCalls
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.errors import StartupError
from fourtier.runtime.extras import extra_needed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BusConfig:
    """Where the bus is and which part of it is ours.

    Attributes:
        url: `embedded`, `memory://`, `pulsar://...` or `pulsar+ssl://...`.
        data: the flow's data directory; the embedded broker stores its messages below it.
        port: for the embedded broker; 0 takes a free one.
        security: the embedded broker takes its token from here, or makes one.
        local_calls: whether calls within this process may do without the broker.
        limits: of what topics of the embedded broker store that nobody acknowledges.
    """

    url: str
    tenant: str
    namespace: str
    data: Path
    port: int = 6650
    security: PulsarSecurity = PulsarSecurity()
    local_calls: bool = True
    limits: TopicLimits | None = None


def embedded_directory(data: Path) -> Path:
    """Where the embedded broker of a flow stores its messages and its token."""
    return data / "bus"


def embedded_security(data: Path) -> PulsarSecurity:
    """What lets other processes of the same user into the embedded broker of a running flow."""
    return PulsarSecurity(token=read_token(embedded_directory(data)))


@asynccontextmanager
async def open_bus(config: BusConfig) -> AsyncGenerator[tuple[Bus, str]]:
    """Connect; yields the bus and the URL by which others reach it.

    Raises:
        StartupError: the URL is of no known kind, or there is no broker.
    """
    local = LocalCalls() if config.local_calls else None
    if config.url == "memory://":
        log.warning("The bus is memory://: it stores nothing and reaches no other process.")
        yield MemoryBus(local), config.url
        return
    async with AsyncExitStack() as stack:
        url, security, client_log = config.url, config.security, "/dev/stderr"
        if url == "embedded":
            with extra_needed("laptop"):
                from fourtier.runtime.bus.embedded.broker import embedded_broker
            directory = embedded_directory(config.data)
            broker = await stack.enter_async_context(
                embedded_broker(directory, config.port, security.token, config.limits)
            )
            url, security = broker.url, PulsarSecurity(token=broker.token)
            client_log = str(directory / "client.log")
        elif not url.startswith(("pulsar://", "pulsar+ssl://")):
            raise StartupError(
                f"{url!r} is not a bus: write embedded, memory://, pulsar://HOST:PORT "
                f"or pulsar+ssl://HOST:PORT"
            )
        try:
            bus = await stack.enter_async_context(
                connect_pulsar(
                    url,
                    config.tenant,
                    config.namespace,
                    security=security,
                    log_file=client_log,
                    local=local,
                )
            )
        except BusError as error:
            raise StartupError(str(error)) from error
        yield bus, url
