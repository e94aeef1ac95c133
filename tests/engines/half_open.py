"""A TCP proxy that can stop answering while its connections stay open, as when a network is cut."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

_HOST = "127.0.0.1"


class HalfOpenProxy:
    """Relays bytes unless it is frozen; then it accepts connections and says nothing."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._flows = asyncio.Event()
        self._flows.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    def freeze(self) -> None:
        """Relay nothing until `thaw`; what was sent meanwhile is relayed then."""
        self._flows.clear()

    def thaw(self) -> None:
        """Relay again."""
        self._flows.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection both ways."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        writers = [writer]
        try:
            await self._flows.wait()
            answers, requests = await asyncio.open_connection(_HOST, self._to)
            writers.append(requests)
            await asyncio.gather(self._copy(reader, requests), self._copy(answers, writer))
        except (asyncio.CancelledError, OSError):
            pass  # the end of the test, or of the connection
        finally:
            self._tasks.discard(task)
            for each in writers:
                each.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            await self._flows.wait()
            writer.write(piece)
            await writer.drain()
        with suppress(OSError):
            writer.write_eof()

    async def close(self) -> None:
        """End all connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def half_open_proxy(to: int) -> AsyncGenerator[HalfOpenProxy]:
    """Relay a free port to another one until the context ends."""
    proxy = HalfOpenProxy(to)
    server = await asyncio.start_server(proxy.serve, _HOST, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
