"""The services of a flow as processes of their own, as a Deployment runs each."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import yaml

from tests.cluster.server import Server
from tests.support.ports import free_port
from tests.support.process import FOURTIER

#: For PYTHONPATH, where a process is to find what tests offer.
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class ServiceProcesses:
    """Makes processes that serve one flow file.

    Attributes:
        file: the flow; `write_flow` writes one.
        directory: where their data and logs go.
        environment: the variables of all of them.
    """

    file: Path
    directory: Path
    environment: Mapping[str, str]

    def make(self, service: str, *, name: str = "", within: Sequence[str] = ()) -> "ServiceProcess":
        """A process of a service, which is not started yet.

        Args:
            service: one of the flow's.
            name: tells replicas of a service apart.
            within: a command that is to run the service's.
        """
        return self._make(name or service, within, "serve", service)

    def make_some(self, name: str, *services: str) -> "ServiceProcess":
        """A process of several services together, which is not started yet."""
        return self._make(name, (), "serve", *services)

    def make_all(self, name: str) -> "ServiceProcess":
        """A process of the whole flow, which is not started yet."""
        return self._make(name, (), "up")

    def _make(
        self, name: str, within: Sequence[str], verb: str, *services: str
    ) -> "ServiceProcess":
        health_port = free_port()
        own = {
            "FOURTIER_DATA": str(self.directory / name),
            "FOURTIER_HEALTH_PORT": str(health_port),
        }
        set_here = [f"{key}={value}" for key, value in {**self.environment, **own}.items()]
        command = ["env", *set_here, *within, FOURTIER, verb, str(self.file), *services]
        return ServiceProcess(name, command, self.directory / f"{name}.log", health_port)


class ServiceProcess(Server):
    """One of them."""

    def __init__(self, name: str, command: Sequence[str], log: Path, health_port: int) -> None:
        super().__init__(name, command, log, self.is_ready)
        self._health = f"http://127.0.0.1:{health_port}"

    async def is_ready(self) -> bool:
        """Whether it takes messages; not any more when it has begun to stop."""
        try:
            async with (
                aiohttp.ClientSession(self._health) as session,
                session.get("/ready") as answer,
            ):
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def handled(self, topic: str) -> int:
        """How many messages of a topic it has handled, by its own count."""
        async with (
            aiohttp.ClientSession(self._health) as session,
            session.get("/metrics") as answer,
        ):
            counted = re.findall(
                r"^messaging_process_duration_seconds_count{(?!.*error_type)"
                rf'.*messaging_destination_name="{re.escape(topic)}".*}} (.+)$',
                await answer.text(),
                re.MULTILINE,
            )
        return int(sum(map(float, counted)))


def write_flow(
    file: Path, services: Mapping[str, Mapping[str, object]], *, tenant: str, namespace: str
) -> Path:
    """Describe a flow in a file; gives back the file."""
    described = {
        "name": namespace,
        "tenant": tenant,
        "namespace": namespace,
        "services": {name: dict(parameters) for name, parameters in services.items()},
    }
    file.write_text(yaml.safe_dump(described), "utf-8")
    return file


def model_environment(url: str) -> dict[str, str]:
    """What processes must know to ask a scripted model."""
    return {
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_MODEL": "scripted",
    }


def python_path(*directories: Path) -> str:
    """PYTHONPATH with the repository, so that a process can import the tests' tools."""
    return os.pathsep.join(map(str, [*directories, REPOSITORY]))


def limited_to(file_size: int) -> list[str]:
    """A command under which no file of a process grows beyond so many bytes."""
    return [sys.executable, str(REPOSITORY / "tests/chaos/limited.py"), str(file_size)]
