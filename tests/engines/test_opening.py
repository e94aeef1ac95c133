"""A URL selects the engine, and a wrong one is one clear line."""

from dataclasses import replace
from pathlib import Path

import pytest

from fourtier.engines.config import EngineConfig
from fourtier.engines.opening import FlowStores, open_graph, open_vectors
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.engines import CollectionsConfig, EnginesConfig
from fourtier.runtime.service.stores.schemas import Collection, Fields
from fourtier.runtime.settings import Settings
from tests.engines.graph_contract import SCHEMA, create, row, things
from tests.engines.vectors_contract import ANN, DIMENSIONS, point
from tests.support.qdrant import shared_qdrant

COLLECTION = Collection("things", Fields(["kind"]))


@pytest.fixture
def config(tmp_path: Path) -> EngineConfig:
    return EngineConfig(tmp_path, dimensions=DIMENSIONS)


async def test_the_embedded_engines_keep_their_files_in_the_data_directory(
    config: EngineConfig,
) -> None:
    for expected in ([], ["a"]):
        async with open_graph(config, SCHEMA) as graph, open_vectors(config, COLLECTION) as vectors:
            assert await things(graph) == expected
            assert [hit.id for hit in await vectors.scroll(ANN, 9)] == expected
            if not expected:
                await create(graph, row("a"))
                await vectors.upsert(ANN, [point("a")])
    assert sorted(each.name for each in config.data.iterdir()) == [
        "graph.lbug",
        "manifest-graph.json",
        "manifest-vectors-things.json",
        "vectors-things",
    ]


async def test_flows_with_prefixes_share_a_vector_server_and_no_vectors(
    config: EngineConfig,
) -> None:
    async with shared_qdrant() as url:
        flows = [
            replace(config, vectors_url=url, collections=CollectionsConfig(prefix=prefix))
            for prefix in ("sales-", "support-")
        ]
        async with (
            open_vectors(flows[0], COLLECTION) as sales,
            open_vectors(flows[1], COLLECTION) as support,
        ):
            await sales.upsert(ANN, [point("a")])

            assert [hit.id for hit in await sales.scroll(ANN, 9)] == ["a"]
            assert await support.scroll(ANN, 9) == []


async def test_a_service_finds_its_stores_where_the_flow_has_them(tmp_path: Path) -> None:
    data = tmp_path / "facts"
    async with shared_qdrant() as url:
        collections = CollectionsConfig(prefix="sales-")
        engines = EnginesConfig(vectors=url, dimensions=DIMENSIONS, collections=collections)
        stores = FlowStores(engines, Settings())
        async with (
            stores.open_graph(data, SCHEMA) as graph,
            stores.open_vectors(data, COLLECTION) as vectors,
        ):
            await create(graph, row("a"))
            await vectors.upsert(ANN, [point("a")])
        named = Collection("sales-things", COLLECTION.fields)
        config = EngineConfig(data, vectors_url=url, dimensions=DIMENSIONS)
        async with open_vectors(config, named) as vectors, open_graph(config, SCHEMA) as graph:
            assert [hit.id for hit in await vectors.scroll(ANN, 9)] == ["a"]
            assert await things(graph) == ["a"]


@pytest.mark.parametrize("url", ["bolts://x", "http://x:7687", "graph.lbug", ""])
async def test_a_graph_of_no_known_kind(config: EngineConfig, url: str) -> None:
    with pytest.raises(StartupError, match="is not a graph: write embedded, bolt://"):
        async with open_graph(replace(config, graph_url=url), SCHEMA):
            pass


@pytest.mark.parametrize("url", ["grpc://x:6334", ":memory:", "vectors"])
async def test_a_vector_store_of_no_known_kind(config: EngineConfig, url: str) -> None:
    with pytest.raises(StartupError, match="is not a vector store: write embedded, http://"):
        async with open_vectors(replace(config, vectors_url=url), COLLECTION):
            pass
