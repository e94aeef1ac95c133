"""Qdrant Edge: the contract, and what belongs to files on disk."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.stores.query import SparseLeg
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Point, VectorStore
from tests.engines.crash import written_until_killed
from tests.engines.searching import search, similar
from tests.engines.vectors_contract import ANN, DIMENSIONS, KIND, VectorStoreContract, point
from tests.engines.vectors_operations import EAST, ids, scrolled


class TestEdge(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, fields: Fields = KIND
    ) -> AbstractAsyncContextManager[VectorStore]:
        return open_edge(directory / "shard", dimensions, fields)

    async def test_points_are_there_after_reopening(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await store.upsert(ANN, [point("stays", text="cello", kind="x"), point("gone")])
            await store.delete(ANN, ["gone"])
        async with self.opened(tmp_path) as store:
            (hit,) = await search(store, ANN, EAST, "cello", 5, kind="x")
            assert hit.id == "stays"
            assert await store.count(None) == 1

    async def test_nothing_that_was_written_is_lost_by_kill_9(self, tmp_path: Path) -> None:
        written = await written_until_killed("vectors", tmp_path / "shard", after=30)

        async with self.opened(tmp_path) as store:
            found = set(await scrolled(store, ANN, 500))
            assert set(written) <= found
            await store.upsert(ANN, [point("later", text="violoncello")])
            assert "later" in ids(await search(store, ANN, EAST, "violoncello", 5))

    async def test_a_new_filter_field_is_indexed_when_a_shard_is_opened_again(
        self, tmp_path: Path
    ) -> None:
        async with self.opened(tmp_path, fields=Fields()) as store:
            await store.upsert(ANN, [point("one", kind="x"), point("two", kind="y")])
        async with self.opened(tmp_path, fields=KIND) as store:
            assert ids(await similar(store, ANN, EAST, 5, kind="y")) == ["two"]

    async def test_one_process_at_a_time(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            with pytest.raises(StartupError, match="in use by another process"):
                async with self.opened(tmp_path):
                    pass
            await store.upsert(ANN, [point("still works")])
        async with self.opened(tmp_path) as store:
            assert await store.count(ANN) == 1

    async def test_another_embedding_model_is_a_startup_error(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await store.upsert(ANN, [point("one")])
        with pytest.raises(StartupError, match=r"another embedding model.*8 dimensions.*move"):
            async with self.opened(tmp_path, dimensions=8):
                pass
        async with self.opened(tmp_path) as store:
            assert await store.count(ANN) == 1

    async def test_a_directory_that_cannot_be_made_is_a_startup_error(self, tmp_path: Path) -> None:
        (tmp_path / "shard").write_text("in the way")
        with pytest.raises(StartupError, match="cannot be opened"):
            async with self.opened(tmp_path):
                pass

    async def test_texts_are_set_while_the_shard_is_rewritten(self, tmp_path: Path) -> None:
        """Also those of points that the copy does not have yet, or has already."""
        names = [f"p{number}" for number in range(1_000)]
        async with self.opened(tmp_path) as store:
            await store.upsert(ANN, [point(name, text="hill") for name in [*names, "gone"]])
            await store.delete(ANN, ["gone"])
            erasing = asyncio.create_task(store.erase())
            for start in range(0, len(names), 10):
                some = names[start : start + 10]
                await store.set_fields(
                    ANN, [Point(name, {}, {"sparse": "zeppelin"}) for name in some]
                )
            await erasing
            zeppelin = [SparseLeg("zeppelin")]
            assert len(await store.query(ANN, zeppelin, 2_000)) == len(names)
            assert await store.query(ANN, [SparseLeg("hill")], 5) == []
