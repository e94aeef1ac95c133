"""The health endpoint."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession
from prometheus_client import CollectorRegistry, Counter

from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.health import health_server


class Health:
    """A server under test and what it says of itself."""

    def __init__(self) -> None:
        self.not_live = ""
        self.not_ready = "starting"
        self.registry = CollectorRegistry()
        self.port = 0

    def why_not_live(self) -> str:
        return self.not_live

    def why_not_ready(self) -> str:
        return self.not_ready

    async def get(self, path: str) -> tuple[int, str]:
        async with (
            ClientSession() as session,
            session.get(f"http://127.0.0.1:{self.port}{path}") as response,
        ):
            return response.status, await response.text()


@asynccontextmanager
async def serving() -> AsyncGenerator[Health]:
    health = Health()
    async with health_server("127.0.0.1", 0, health, health.registry) as port:
        health.port = port
        yield health


async def test_it_is_live_before_it_is_ready_and_says_why() -> None:
    async with serving() as health:
        assert await health.get("/live") == (200, "live\n")
        assert await health.get("/ready") == (503, "starting\n")
        health.not_ready = ""
        assert await health.get("/ready") == (200, "ready\n")
        health.not_ready = "stopping"
        assert await health.get("/ready") == (503, "stopping\n")
        assert await health.get("/live") == (200, "live\n")
        health.not_live = "a handler hangs"
        assert await health.get("/live") == (503, "a handler hangs\n")


async def test_it_shows_the_metrics_of_its_registry() -> None:
    async with serving() as health:
        Counter("seen", "How many.", registry=health.registry).inc(3)
        status, text = await health.get("/metrics")

    assert status == 200
    assert "seen_total 3.0" in text


async def test_other_paths_are_not_there() -> None:
    async with serving() as health:
        assert (await health.get("/"))[0] == 404


async def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StartupError, match=rf"^port {port} cannot be used.*in use.*_PORT"):
            async with health_server("127.0.0.1", port, Health(), CollectorRegistry()):
                pass


async def test_an_address_of_another_machine_is_one_line() -> None:
    with pytest.raises(StartupError, match=r"cannot listen on 192\.0\.2\.1"):
        async with health_server("192.0.2.1", 0, Health(), CollectorRegistry()):
            pass


async def test_an_open_connection_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourtier.runtime.process.health._ENDS_WITHIN", 3_600)
    async with ClientSession() as session, serving() as health:
        response = await session.get(f"http://127.0.0.1:{health.port}/live")
        assert await response.text() == "live\n"
