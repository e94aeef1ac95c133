"""The health endpoint: liveness, readiness and metrics on one small HTTP server.

`/live` fails when a handler hangs beyond its time limit, `/ready` while the process takes no
messages; `/metrics` is for Prometheus.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from fourtier.runtime.errors import StartupError

#: An answer takes no time; a client that hangs must not hold up the stop.
_ENDS_WITHIN = 1.0


class Health(Protocol):
    """What the endpoint asks: why a process is not well, empty where it is."""

    def why_not_live(self) -> str:
        """Why it should be started again."""
        ...

    def why_not_ready(self) -> str:
        """Why it takes no messages now."""
        ...


def _response(well: str, problem: str) -> web.Response:
    return web.Response(text=f"{problem or well}\n", status=503 if problem else 200)


@asynccontextmanager
async def health_server(
    host: str, port: int, health: Health, registry: CollectorRegistry
) -> AsyncGenerator[int]:
    """Serve until the context ends; yields the port, which 0 leaves to the system.

    Args:
        host: address to listen on.
        port: TCP port.
        health: what /live and /ready answer.
        registry: what /metrics shows.

    Raises:
        StartupError: the port is in use, or the address is not one of this machine.
    """

    async def live(_request: web.Request) -> web.Response:
        return _response("live", health.why_not_live())

    async def ready(_request: web.Request) -> web.Response:
        return _response("ready", health.why_not_ready())

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
