"""`kill -9` of the researcher's process in the middle of researches: each has one end."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest

from fourtier.client import Client, client_on
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.message import Scope
from tests.agents.researcher.interrupted import RESEARCHER, STORES, steps_of
from tests.agents.researcher.model import ENOUGH, NOT_ENOUGH, role_of
from tests.agents.researcher.test_interrupted_research import (
    FLAT,
    LIVES,
    ROLES,
    ROOF,
    SAID,
    TWO_ROUNDS,
    integrate,
)
from tests.agents.researcher.test_researcher_service import QUESTION, START
from tests.chaos.flow import NAMESPACE, TENANT, embedded_bus
from tests.support.model import ModelRequest, Reply, scripted_model
from tests.support.services import ServiceProcess, ServiceProcesses, model_environment, write_flow
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.embedded]

KILLS = 5
#: How long a completion takes, in seconds, and one of six with what stands between them.
TAKES, ONE = 0.25, 0.35


@dataclass
class Model:
    """Answers by what it is shown, and takes its time.

    Attributes:
        roles: of the completions that were begun.
        answered: how many were answered.
    """

    roles: list[str] = field(default_factory=list)

    async def __call__(self, request: ModelRequest) -> Reply:
        role = role_of(request)
        self.roles.append(role)
        await asyncio.sleep(TAKES)
        if role == "integrate":
            return integrate(request)
        if role == "check":
            return ENOUGH if LIVES in request.last else NOT_ENOUGH
        reply = TWO_ROUNDS[role]
        assert not callable(reply)
        return reply


@asynccontextmanager
async def running(
    directory: Path, model_url: str
) -> AsyncGenerator[tuple[Client, ServiceProcess, str]]:
    """A broker, the stores in one process and the researcher in another."""
    async with embedded_bus(directory) as (bus_url, environment, _):
        settings = environment | model_environment(model_url) | {"FOURTIER_BUS_URL": bus_url}
        services = {**STORES, "researcher": RESEARCHER}
        file = write_flow(directory / "flow.yaml", services, tenant=TENANT, namespace=NAMESPACE)
        processes = ServiceProcesses(file, directory, settings)
        stores, researcher = processes.make_some("stores", *STORES), processes.make("researcher")
        try:
            await asyncio.gather(stores.start(), researcher.start())
            async with (
                connect_pulsar(
                    bus_url,
                    TENANT,
                    NAMESPACE,
                    security=PulsarSecurity(),
                    log_file=str(directory / "client.log"),
                ) as bus,
                client_on(bus) as client,
            ):
                yield client, researcher, bus_url
        finally:
            await asyncio.gather(stores.stop(), researcher.stop())


async def tell(client: Client) -> None:
    for number, content in enumerate(SAID):
        turn = DialogueTurn(
            user="ann",
            conversation_id=f"c{number}",
            speaker="Mia",
            content=content,
            timestamp=START,
            turn_id=f"ann-{number}",
        )
        await client.caller.publish(DIALOGUE_RECORDED, turn)

    async def searchable() -> bool:
        found = await client.archive.search(Scope("ann", "default"), "anything", top_k=100)
        return len(found.hits) == len(SAID)

    await wait_until(searchable)


@pytest.mark.timeout(400)
async def test_no_completion_is_made_again_but_the_one_under_way(tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)  # noqa: S311 - not a secret
    print(f"seed {seed}")  # noqa: T201 - shown by pytest when the test fails
    delays = random.Random(seed)  # noqa: S311 - not a secret
    model = Model()
    async with (
        scripted_model(script=model) as endpoint,
        running(tmp_path, endpoint.url) as (client, researcher, _),
    ):
        await tell(client)
        resumed = Counter[int]()
        for _ in range(KILLS):
            model.roles.clear()
            asking = asyncio.create_task(steps_of(client, QUESTION))
            await wait_until(lambda: bool(model.roles))
            await asyncio.sleep(delays.uniform(0, len(ROLES) * ONE))
            await researcher.kill()
            await researcher.start()
            steps = await asking

            assert [each.step for each in steps].count("end") == 1
            receipt = steps[-1].receipt
            assert receipt is not None
            once = [role for role, _ in groupby(model.roles)]
            assert once == ROLES
            assert len(model.roles) - len(once) <= 1, "the one under way was made twice"
            assert (receipt.completions, receipt.in_token) == (len(ROLES), 10 * len(ROLES))
            assert (receipt.stopped, receipt.degraded) == ("enough", {})
            assert {ROOF, FLAT} <= {each.entry.content for each in steps[-1].evidence}
            resumed[receipt.resumed] += 1
    assert resumed.keys() <= {0, 1}
    assert resumed[1] > 0, "none of them was killed behind its first completion"
