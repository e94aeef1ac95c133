"""Neo4j: the contract on a server when one is named, and what a wrong URL says."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from neo4j import AsyncGraphDatabase

from fourtier.engines.graph.neo4j import Neo4jGraphStore, open_neo4j
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.schemas import GraphSchema
from tests.cluster.servers import SERVERS
from tests.engines.graph_contract import ANN, SCHEMA, GraphStoreContract, create, row, things

NOBODY = "bolt://127.0.0.1:9"


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server")
class TestNeo4j(GraphStoreContract):
    def opened(
        self, directory: Path, schema: GraphSchema = SCHEMA
    ) -> AbstractAsyncContextManager[GraphStore]:
        del directory  # on the server
        return open_neo4j(str(SERVERS.neo4j_url), schema, user=None, password=None)

    async def test_nodes_are_there_for_another_connection(
        self, store: GraphStore, tmp_path: Path
    ) -> None:
        await create(store, row("a"))
        async with self.opened(tmp_path) as other:
            assert await things(other) == ["a"]

    async def test_a_path_names_a_database(self, store: GraphStore) -> None:
        await create(store, row("a"))
        async with open_neo4j(f"{SERVERS.neo4j_url}/neo4j", SCHEMA, user=None, password=None) as it:
            assert await things(it) == ["a"]  # the default one, and the only one here
        with pytest.raises(StartupError, match=r"/sales cannot be used.*sales") as raised:
            async with open_neo4j(f"{SERVERS.neo4j_url}/sales", SCHEMA, user=None, password=None):
                pass
        assert "\n" not in str(raised.value)

    async def test_replicas_start_at_the_same_time(self, tmp_path: Path) -> None:
        async def start() -> None:
            async with self.opened(tmp_path) as store:
                await store.read(
                    ANN, "MATCH (t:ContractThing {id: 'x', scope: $scope}) RETURN t.id AS id"
                )

        await asyncio.gather(*(start() for _ in range(4)))

    async def test_keys_and_indexes_are_there(self, store: GraphStore) -> None:
        found = await store.read(
            None,
            "SHOW INDEXES YIELD labelsOrTypes, properties "
            "WHERE labelsOrTypes = ['ContractThing'] "
            "RETURN properties[0] AS property ORDER BY property",
        )
        assert found == [{"property": "id"}, {"property": "scope"}]


async def test_no_server_is_one_clear_line() -> None:
    with pytest.raises(StartupError, match=r"graph at bolt://127\.0\.0\.1:9 cannot be used"):
        async with open_neo4j(NOBODY, SCHEMA, user=None, password=None):
            pass


async def test_an_unavailable_server_is_told_from_a_wrong_statement() -> None:
    async with AsyncGraphDatabase.driver(NOBODY, max_transaction_retry_time=0) as driver:
        with pytest.raises(UnavailableError, match="Neo4j cannot be reached"):
            await Neo4jGraphStore(driver).read(None, "RETURN 1 AS one")


async def test_a_malformed_url_is_one_clear_line() -> None:
    with pytest.raises(StartupError, match="is not a URL of a Neo4j server"):
        async with open_neo4j("nonsense://x", SCHEMA, user=None, password=None):
            pass
