"""A flow whose researcher, or agent, is a host of its own, so that it can be killed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourtier.client import Client, client_on
from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.process.host import Host, run_services
from fourtier.runtime.settings import Settings
from fourtier.schema.researcher import ResearchProgress
from tests.agents.researcher.model import Played
from tests.support.flow import PATIENT, RunningFlow, running_flow
from tests.support.model import ModelRequest, Reply, Says, ScriptedModel, scripted_model
from tests.support.waiting import wait_until

STORES: Mapping[str, Mapping[str, Any]] = {
    "embeddings": {},
    "completion": {"attempts": 1},
    "archive": {},
    "conversations": {},
    "working-memory": {},
}
#: A busy machine is no reason to go on without working memory, or by rule.
RESEARCHER: Mapping[str, Any] = {
    "working-memory-seconds": 30,
    "completion-seconds": 50,
    "research-seconds": 300,
}
AGENT: Mapping[str, Any] = {
    **PATIENT,
    "deep-research-seconds": 120,
    "fact-retrieval-top-k": 0,
    "episode-retrieval-top-k": 0,
}
PARAMETERS = {"researcher": RESEARCHER, "agent": AGENT}


@dataclass
class Blocked:
    """A model whose completion of some number, from 0, waits until it is let go.

    Attributes:
        at: the numbers.
        reached: set when a completion waits.
        until: what it waits for; None where whoever asked is killed.
    """

    played: Played
    at: set[int] = field(default_factory=set)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    until: asyncio.Event | None = None

    def let_go(self) -> None:
        """Let the completion that waits be answered."""
        assert self.until is not None
        self.until.set()

    async def __call__(self, request: ModelRequest) -> Reply:
        if not request.schema:
            return Says("In Bodø.")
        number = len(self.played.roles)
        reply = self.played(request)
        if number in self.at:
            self.at.discard(number)
            self.reached.set()
            await (self.until or asyncio.Event()).wait()
        return reply


@dataclass
class Killable:
    """The stores run all the time; what is `up` can be killed."""

    flow: RunningFlow
    client: Client
    model: ScriptedModel
    data: Path
    _hosts: dict[str, tuple[AsyncExitStack, Host]] = field(default_factory=dict)

    async def start(self, service: str) -> None:
        """Start a service on the flow's bus."""
        flow = Flow(name="test", services={service: PARAMETERS[service]})
        settings = Settings(**self.model.settings, data=self.data)
        stack = AsyncExitStack()
        host = await stack.enter_async_context(
            run_services(self.flow.bus, host_plan(flow, settings))
        )
        self._hosts[service] = stack, host

    async def kill(self, service: str) -> None:
        """End a service in the middle of what it does; nothing of that is acknowledged."""
        stack, host = self._hosts.pop(service)
        host.stop_at_once()
        await stack.aclose()

    async def close(self) -> None:
        """End what is up."""
        for service in list(self._hosts):
            await self.kill(service)


@asynccontextmanager
async def killable(
    tmp_path: Path, script: Any, *up: str, bus: str = "embedded"
) -> AsyncGenerator[Killable]:
    """The stores of a flow, and beside them the services that are `up`."""
    async with (
        scripted_model(script=script) as model,
        running_flow(tmp_path, STORES, bus=bus, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        running = Killable(flow, client, model, tmp_path)
        try:
            for service in up:
                await running.start(service)
            yield running
        finally:
            await running.close()


async def steps_of(client: Client, question: str, **arguments: Any) -> list[ResearchProgress]:
    """All steps of a research of ann's."""
    return [step async for step in client.research(question, user="ann", **arguments)]


async def reached(blocked: Blocked) -> None:
    """Wait until the model's completion waits."""
    await wait_until(blocked.reached.is_set)
    blocked.reached.clear()
