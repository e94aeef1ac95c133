"""The embedded broker: `pulsar-lite` as a child process that never outlives the flow."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from fourtier.runtime.errors import StartupError

_HOST = "127.0.0.1"
_STARTS_WITHIN = 20.0


@asynccontextmanager
async def embedded_broker(directory: Path, port: int) -> AsyncGenerator[str]:
    """Start a broker that keeps its messages in `directory`; yields its `pulsar://` URL.

    Port 0 takes a free one. The broker is started through a small guard process which ends it when
    this process is gone, however it went.

    Raises:
        StartupError: the package is missing, the port is in use or the broker did not start.
    """
    port = _usable_port(port)
    binary = _binary()
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    guard = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("guard.py")),
        str(directory / "broker.log"),
        binary,
        "--addr",
        f"{_HOST}:{port}",
        "--db-path",
        str(directory / "messages"),
        "--log-level",
        "error",
        stdin=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us; the broker ends after its clients
    )
    try:
        await _wait_until_open(guard, port, directory)
        yield f"pulsar://{_HOST}:{port}"
    finally:
        if guard.stdin is not None:
            guard.stdin.close()
        await guard.wait()


def _binary() -> str:
    try:
        from pulsar_lite.binary_finder import find_pulsar_lite_binary
    except ImportError as error:
        raise StartupError(
            "the embedded bus needs the package pulsar-lite: install fourtier[laptop], "
            "or name a broker in FOURTIER_BUS_URL"
        ) from error
    return str(find_pulsar_lite_binary())


def _usable_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise StartupError(
                f"port {port} is in use, so the embedded bus cannot listen there: stop what uses "
                f"it, or choose another port with FOURTIER_BUS_PORT (0 takes a free one)"
            ) from error
        return int(probe.getsockname()[1])


async def _wait_until_open(guard: asyncio.subprocess.Process, port: int, directory: Path) -> None:
    log = directory / "broker.log"
    try:
        async with asyncio.timeout(_STARTS_WITHIN):
            while guard.returncode is None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection(_HOST, port)
                    writer.close()
                    await writer.wait_closed()
                    return
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise StartupError(
            f"the embedded bus did not start within {_STARTS_WITHIN:g} seconds: see {log}"
        ) from None
    raise StartupError(f"the embedded bus ended as soon as it was started: see {log}")
