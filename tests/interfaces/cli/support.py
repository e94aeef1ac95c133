"""The command in the tests' process, against services that a test makes up on the bus in memory."""

import io
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourtier.interfaces.cli import main
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.flow import (
    FLOW_SERVICES,
    DeclaredService,
    FlowServicesRequest,
    FlowServicesResponse,
)
from fourtier.schema.topics import Call
from tests.runtime.rpc.support import FailingBus, served


@dataclass
class Command:
    """Runs `fourtier ARGUMENTS`; every flow that it asks for is the one of the test.

    Attributes:
        bus: of the flow.
        routes: what the flow's services answer.
    """

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    routes: Sequence[Route] = ()
    bus: FailingBus = field(default_factory=FailingBus)
    out: str = ""
    err: str = ""

    def __post_init__(self) -> None:
        opening = "fourtier.operations.connection.open_flow_bus"
        self.monkeypatch.setattr(opening, self._open_flow_bus)

    @asynccontextmanager
    async def _open_flow_bus(self, _flow: str) -> AsyncGenerator[Bus]:
        try:
            async with served(self.bus, *self.routes):
                yield self.bus
        except BaseExceptionGroup as group:  # how `served` passes on what the command raised
            raise group.exceptions[0] from None

    def __call__(self, *arguments: str, stdin: bytes = b"") -> int:
        """Run a command; its exit code. What it printed is in `out` and `err`."""
        self.monkeypatch.setattr("sys.argv", ["fourtier", *arguments])
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main._run()
        printed = self.capsys.readouterr()
        self.out, self.err = printed.out, printed.err
        assert "Traceback" not in self.out + self.err, self.out + self.err
        return code

    @property
    def said(self) -> str:
        """All that was printed, on one line."""
        return " ".join((self.out + self.err).split())


def flow_with(*calls: Call[Any, Any]) -> Route:
    """Answer `flow.services` with one service for each call; the service handles that call."""
    services = tuple(
        DeclaredService(name=call.topic.name.rpartition(".")[0], handles=(call.topic.name,))
        for call in calls
    )

    async def answer(_request: FlowServicesRequest) -> FlowServicesResponse:
        return FlowServicesResponse(services=services)

    return call_route(FLOW_SERVICES, answer)
