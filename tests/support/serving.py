"""An HTTP application on this machine, for as long as a test wants it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def serving(
    application: web.Application, *, handler_cancellation: bool = False
) -> AsyncGenerator[str]:
    """Serve it on a free port until the context ends; its URL, without a slash at the end.

    With `handler_cancellation` a handler is cancelled when its client hangs up.
    """
    runner = web.AppRunner(
        application,
        handler_cancellation=handler_cancellation,
        shutdown_timeout=0.1,
        access_log=None,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
