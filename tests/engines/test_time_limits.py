"""A store that stops answering fails its callers at the time limit, and serves again afterwards."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from neo4j import AsyncGraphDatabase

from fourtier.engines.config import EngineConfig
from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.neo4j import Neo4jGraphStore
from fourtier.engines.limits import TimeLimit
from fourtier.engines.opening import open_graph, open_vectors
from fourtier.engines.vectors.edge import open_edge
from fourtier.engines.vectors.qdrant import open_qdrant
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import Collection, Fields
from fourtier.runtime.service.stores.vectors import VectorStore
from tests.cluster.servers import SERVERS
from tests.engines.graph_contract import ANN, SCHEMA, create, row, things
from tests.engines.half_open import half_open_proxy
from tests.engines.searching import search, similar
from tests.engines.vectors_contract import DIMENSIONS, point
from tests.engines.vectors_operations import EAST, ids
from tests.support.qdrant import shared_qdrant
from tests.support.waiting import wait_until

LIMIT = 0.3
NOT_ANSWERED = r"did not answer within 0\.3 seconds \(engines\.query-seconds"
#: Takes the square of the number of things; with a few thousand that is longer than any limit here.
SLOW = (
    "MATCH (a:ContractThing), (b:ContractThing), (c:ContractThing) "
    "WHERE a.number + b.number + c.number = $number RETURN count(*) AS number"
)
SLOW_WRITE = (
    "MATCH (a:ContractThing), (b:ContractThing), (c:ContractThing), (t:ContractThing {id: $id}) "
    "WHERE a.number + b.number + c.number = -1 AND t.scope = $scope DELETE t"
)

Request = Callable[[VectorStore], Awaitable[object]]
REQUESTS: list[Request] = [
    lambda store: store.upsert(ANN, [point("a")]),
    lambda store: search(store, ANN, EAST, "a", 1),
    lambda store: similar(store, ANN, EAST, 1),
    lambda store: store.get(ANN, ["a"]),
    lambda store: store.scroll(ANN, 1),
    lambda store: store.count(ANN),
    lambda store: store.delete(ANN, ["a"]),
    lambda store: store.delete_scope(ANN),
]


async def test_qdrant_behind_a_half_open_connection() -> None:
    async with (
        shared_qdrant() as url,
        half_open_proxy(urlsplit(url).port or 0) as proxy,
        open_qdrant(
            f"http://127.0.0.1:{proxy.port}",
            "x",
            DIMENSIONS,
            Fields(),
            key=None,
            query_seconds=LIMIT,
        ) as store,
    ):
        await store.upsert(ANN, [point("before")])
        proxy.freeze()
        for request in REQUESTS:
            with pytest.raises(UnavailableError, match=rf"Qdrant at http://\S+ {NOT_ANSWERED}"):
                await request(store)
        proxy.thaw()
        await store.upsert(ANN, [point("after")])
        assert "after" in ids(await store.scroll(ANN, 9))


async def test_the_flow_sets_the_limit_of_a_server(tmp_path: Path) -> None:
    async with shared_qdrant() as url, half_open_proxy(urlsplit(url).port or 0) as proxy:
        proxied = f"http://127.0.0.1:{proxy.port}"
        config = EngineConfig(tmp_path, vectors_url=proxied, query_seconds=LIMIT, dimensions=4)
        async with open_vectors(config, Collection("things")) as store:
            proxy.freeze()
            with pytest.raises(UnavailableError, match=NOT_ANSWERED):
                await store.count()


async def test_a_server_that_is_silent_at_the_start_is_a_startup_error(tmp_path: Path) -> None:
    async with half_open_proxy(9) as proxy:
        proxy.freeze()
        config = EngineConfig(
            tmp_path,
            vectors_url=f"http://127.0.0.1:{proxy.port}",
            graph_url=f"bolt://127.0.0.1:{proxy.port}",
            query_seconds=LIMIT,
        )
        with pytest.raises(StartupError, match=NOT_ANSWERED):
            async with open_vectors(config, Collection("things")):
                pass
        with pytest.raises(StartupError, match=NOT_ANSWERED):
            async with open_graph(config, SCHEMA):
                pass


async def test_neo4j_that_does_not_answer() -> None:
    async with half_open_proxy(9) as proxy:
        proxy.freeze()
        limit = TimeLimit("Neo4j", LIMIT)
        async with AsyncGraphDatabase.driver(f"bolt://127.0.0.1:{proxy.port}") as driver:
            store = Neo4jGraphStore(driver, limit=limit)
            with pytest.raises(UnavailableError, match=f"Neo4j {NOT_ANSWERED}"):
                await store.read(None, "RETURN 1 AS one")
            for number in (1, 2):  # one statement alone, and a managed transaction
                with pytest.raises(UnavailableError, match=f"Neo4j {NOT_ANSWERED}"):
                    await store.write(None, *[Statement("RETURN 1 AS one")] * number)


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server")
class TestNeo4j:
    """The first answer of a cold server takes seconds, so the limit applies to later ones."""

    async def test_a_half_open_connection(self) -> None:
        async with (
            half_open_proxy(urlsplit(str(SERVERS.neo4j_url)).port or 0) as proxy,
            AsyncGraphDatabase.driver(f"bolt://127.0.0.1:{proxy.port}") as driver,
        ):
            patient = Neo4jGraphStore(driver)
            store = Neo4jGraphStore(driver, limit=TimeLimit("Neo4j", LIMIT))
            await patient.read(None, "RETURN 1 AS one")
            proxy.freeze()
            for _ in range(2):
                with pytest.raises(UnavailableError, match=f"Neo4j {NOT_ANSWERED}"):
                    await store.read(None, "RETURN 1 AS one")
                with pytest.raises(UnavailableError, match=f"Neo4j {NOT_ANSWERED}"):
                    await store.write(None, *[Statement("RETURN 1 AS one")] * 2)
            proxy.thaw()
            assert await patient.read(None, "RETURN 1 AS one") == [{"one": 1}]

    async def test_a_query_that_takes_too_long_ends_on_the_server_too(self) -> None:
        async with AsyncGraphDatabase.driver(str(SERVERS.neo4j_url)) as driver:
            patient = Neo4jGraphStore(driver)
            store = Neo4jGraphStore(driver, limit=TimeLimit("Neo4j", LIMIT))
            await patient.read(None, "RETURN 1 AS one")
            with pytest.raises(UnavailableError, match=f"Neo4j {NOT_ANSWERED}"):
                await store.read(
                    None,
                    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b "
                    "WITH a + b AS c RETURN count(c) AS number",
                )

            async def is_over() -> bool:
                running = await patient.read(
                    None,
                    "SHOW TRANSACTIONS YIELD currentQuery "
                    "WHERE currentQuery STARTS WITH 'UNWIND range' RETURN currentQuery AS query",
                )
                return not running

            await wait_until(is_over)


async def fill(directory: Path) -> None:
    """Store 3,000 things, without a limit that a busy machine would exceed."""
    async with open_ladybug(directory / "graph.lbug", SCHEMA) as store:
        await create(store, *(row(str(number), number=number) for number in range(3_000)))


async def test_a_read_of_the_embedded_graph_is_interrupted(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with open_ladybug(tmp_path / "graph.lbug", SCHEMA, query_seconds=LIMIT) as store:
        # Twice as many as there are threads for reads, so that some wait for their turn.
        slow = [store.read(None, SLOW, number=-1) for _ in range(4)]
        failed = await asyncio.gather(*slow, return_exceptions=True)

        assert {type(each) for each in failed} == {UnavailableError}
        assert str(failed[0]).startswith(f"the graph {tmp_path}/graph.lbug did not answer within")
        assert len(await things(store)) == 3_000, "the threads are free again"


async def test_a_write_of_the_embedded_graph_is_rolled_back(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with open_ladybug(tmp_path / "graph.lbug", SCHEMA, query_seconds=LIMIT) as store:
        with pytest.raises(UnavailableError, match=NOT_ANSWERED):
            await store.write(
                ANN,
                Statement(
                    "CREATE (t:ContractThing {id: $id}) SET t.scope = $scope", {"id": "lost"}
                ),
                Statement(SLOW_WRITE, {"id": "1"}),
            )

        found = await things(store)
        assert "lost" not in found
        assert len(found) == 3_000
        await create(store, row("later"))
        assert "later" in await things(store)


async def test_the_embedded_vectors_fail_while_their_thread_is_busy(tmp_path: Path) -> None:
    async with open_edge(tmp_path / "shard", DIMENSIONS, Fields(), query_seconds=LIMIT) as store:
        free = threading.Event()
        store._executor.submit(free.wait)
        try:
            for request in REQUESTS:
                with pytest.raises(
                    UnavailableError, match=rf"store {tmp_path}/shard {NOT_ANSWERED}"
                ):
                    await request(store)
        finally:
            free.set()
        assert await store.count() == 0, "what was not begun in time is not done later"
        await store.upsert(ANN, [point("later")])
        assert await store.count() == 1
