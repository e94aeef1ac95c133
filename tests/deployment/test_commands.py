"""Every command of docker-compose.yaml runs as it is written there, each in its own process.

The environment is that of the container, except that the engines are embedded. The health check of
the image tells when the service is ready.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.deployment.deployment_files import SERVICES, compose_services
from tests.deployment.dockerfile import health_command
from tests.support.ports import free_port
from tests.support.process import FOURTIER
from tests.support.waiting import wait_until

#: Values for the variables that compose.env asks for.
VALUES = {
    "FOURTIER_GRAPH_PASSWORD": "a-password",
    "OPENAI_MODEL": "a-model",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "",
}


def _environment(service: str, data: Path, port: int) -> dict[str, str]:
    given = compose_services()[service]["environment"]
    embedded = {
        "FOURTIER_BUS_URL": "memory://",
        "FOURTIER_GRAPH_URL": "embedded",
        "FOURTIER_VECTORS_URL": "embedded",
        "FOURTIER_OTLP_ENDPOINT": "",
        "FOURTIER_HEALTH_PORT": str(port),
        "FOURTIER_DATA": str(data),
        "FOURTIER_LOG_FORMAT": "json",
        "PATH": str(Path(sys.executable).parent),
    }
    return given | {name: VALUES[name] for name in given if name in VALUES} | embedded


@pytest.mark.parametrize("service", sorted(SERVICES))
async def test_a_service_starts_becomes_healthy_and_stops(service: str, tmp_path: Path) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        FOURTIER,
        *compose_services()[service]["command"],
        env=_environment(service, tmp_path, port),
        stderr=asyncio.subprocess.PIPE,
    )

    async def is_healthy() -> bool:
        assert process.returncode is None, "it ended right after its start"
        python, *arguments = health_command(port)
        assert python == "python"
        check = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stderr=asyncio.subprocess.DEVNULL
        )
        return await check.wait() == 0

    try:
        await wait_until(is_healthy, within=120)
    finally:
        if process.returncode is None:
            process.terminate()
        _, log = await process.communicate()
        print(log.decode())  # noqa: T201 - shown by pytest when the test fails
    assert process.returncode == 0


async def test_the_health_check_fails_without_a_service() -> None:
    _, *arguments = health_command(free_port())
    check = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stderr=asyncio.subprocess.DEVNULL
    )
    assert await check.wait() != 0
