"""Keys and indexes, made on a real Neo4j."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from fourtier.engines.config import EngineConfig
from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.engines.graph.neo4j.provisioning import provision_graph
from fourtier.runtime.errors import StartupError
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from tests.cluster.servers import SERVERS

URL = SERVERS.neo4j_url or ""
CONFIG = EngineConfig(Path("unused"), graph_url=URL)

on_neo4j = [
    pytest.mark.cluster,
    pytest.mark.skipif(not URL, reason="FOURTIER_TEST_NEO4J_URL names no server"),
]


@pytest.fixture
async def schemas() -> AsyncGenerator[list[GraphSchema]]:
    """Of two services; deleted afterwards."""
    one, two = f"One{uuid4().hex[:8]}", f"Two{uuid4().hex[:8]}"
    schemas = [
        GraphSchema([Node(one, {"id": "STRING", "scope": "STRING"}, indexed=("scope",))]),
        GraphSchema([Node(two, {"id": "STRING"})]),
    ]
    yield schemas
    async with open_neo4j(URL, GraphSchema([]), user=None, password=None) as store:
        await store.write(
            None,
            Statement(f"DROP CONSTRAINT {one.lower()}_id IF EXISTS"),
            Statement(f"DROP CONSTRAINT {two.lower()}_id IF EXISTS"),
            Statement(f"DROP INDEX {one.lower()}_scope IF EXISTS"),
        )


async def plan(schemas: Sequence[GraphSchema]) -> Sequence[Step]:
    async with provision_graph(CONFIG, schemas) as provisioner:
        return await provisioner.plan()


async def init(schemas: Sequence[GraphSchema]) -> None:
    async with provision_graph(CONFIG, schemas) as provisioner:
        for step in await provisioner.plan():
            if step.act:
                await step.act()


class TestOnNeo4j:
    pytestmark = on_neo4j

    async def test_keys_and_indexes_are_made_once(self, schemas: list[GraphSchema]) -> None:
        steps = await plan(schemas)
        assert {step.state for step in steps} == {State.MISSING}
        assert [step.what.split()[0] for step in steps] == ["key", "index", "key"]
        await init(schemas)
        assert {step.state for step in await plan(schemas)} == {State.THERE}
        await init(schemas)

    async def test_planning_makes_nothing(self, schemas: list[GraphSchema]) -> None:
        await plan(schemas)
        assert {step.state for step in await plan(schemas)} == {State.MISSING}

    async def test_two_at_once_do_no_harm(self, schemas: list[GraphSchema]) -> None:
        await asyncio.gather(init(schemas), init(schemas))
        assert {step.state for step in await plan(schemas)} == {State.THERE}

    async def test_a_service_that_was_quicker_leaves_nothing_to_do(
        self, schemas: list[GraphSchema]
    ) -> None:
        async with open_neo4j(URL, schemas[0], user=None, password=None):
            pass
        assert {step.state for step in await plan(schemas[:1])} == {State.THERE}


async def test_no_server_is_one_clear_line() -> None:
    nowhere = EngineConfig(Path("unused"), graph_url="bolt://127.0.0.1:9")
    with pytest.raises(StartupError, match=r"graph at bolt://127\.0\.0\.1:9 cannot") as raised:
        async with provision_graph(nowhere, []):
            pass
    assert "\n" not in str(raised.value)
