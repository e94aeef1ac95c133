"""A URL picks the engine, and a wrong one is one clear line."""

from dataclasses import replace
from pathlib import Path

import pytest

from fourtier.engines.opening import open_graph, open_vectors
from fourtier.engines.places import EnginePlace
from fourtier.engines.stores import Collection
from fourtier.runtime.errors import StartupError
from tests.engines.graph_contract import SCHEMA, create, row, things
from tests.engines.vectors_contract import ANN, DIMENSIONS, point

COLLECTION = Collection("things", ("kind",))


@pytest.fixture
def place(tmp_path: Path) -> EnginePlace:
    return EnginePlace(tmp_path, dimensions=DIMENSIONS)


async def test_the_embedded_engines_keep_their_files_in_the_data_directory(
    place: EnginePlace,
) -> None:
    for expected in ([], ["a"]):
        async with open_graph(place, SCHEMA) as graph, open_vectors(place, COLLECTION) as vectors:
            assert await things(graph) == expected
            assert [hit.id for hit in await vectors.scroll(ANN, 9)] == expected
            if not expected:
                await create(graph, row("a"))
                await vectors.upsert(ANN, [point("a")])
    assert sorted(each.name for each in place.data.iterdir()) == ["graph.lbug", "vectors-things"]


@pytest.mark.parametrize("url", ["bolts://x", "http://x:7687", "graph.lbug", ""])
async def test_a_graph_of_no_known_kind(place: EnginePlace, url: str) -> None:
    with pytest.raises(StartupError, match="is no graph: write embedded, bolt://"):
        async with open_graph(replace(place, graph_url=url), SCHEMA):
            pass


@pytest.mark.parametrize("url", ["grpc://x:6334", ":memory:", "vectors"])
async def test_a_vector_store_of_no_known_kind(place: EnginePlace, url: str) -> None:
    with pytest.raises(StartupError, match="is no vector store: write embedded, http://"):
        async with open_vectors(replace(place, vectors_url=url), COLLECTION):
            pass
