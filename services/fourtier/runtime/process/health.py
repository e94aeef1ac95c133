"""The health endpoint: /live, /ready and /metrics on one small HTTP server."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from fourtier.runtime.errors import StartupError

#: An answer takes no time; a client that hangs must not hold up the stop.
_ENDS_WITHIN = 1.0


@asynccontextmanager
async def health_server(
    host: str, port: int, why_not_ready: Callable[[], str], registry: CollectorRegistry
) -> AsyncGenerator[int]:
    """Serve until the context ends; yields the port, which 0 leaves to the system.

    Args:
        host: address to listen on.
        port: TCP port.
        why_not_ready: empty while the flow takes messages, otherwise the reason.
        registry: what /metrics shows.

    Raises:
        StartupError: the port is in use, or the address is not one of this machine.
    """

    async def live(_request: web.Request) -> web.Response:
        return web.Response(text="live\n")

    async def ready(_request: web.Request) -> web.Response:
        reason = why_not_ready()
        return web.Response(text=f"{reason or 'ready'}\n", status=503 if reason else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(
            body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4}
        )

    app = web.Application()
    app.add_routes([web.get("/live", live), web.get("/ready", ready), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_ENDS_WITHIN)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise StartupError(
                f"port {port} cannot be used, so the health endpoint cannot listen on {host} "
                f"({reason}): stop what uses it, or choose another port with "
                f"FOURTIER_HEALTH_PORT (0 takes a free one)"
            ) from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
