"""Qdrant Edge: the contract, and what belongs to files on disk."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.engines.vectors.edge import open_edge
from fourtier.engines.vectors.protocol import VectorStore
from fourtier.runtime.errors import StartupError
from tests.engines.crash import written_until_killed
from tests.engines.vectors_contract import ANN, DIMENSIONS, VectorStoreContract, point
from tests.engines.vectors_operations import EAST, ids, scrolled


class TestEdge(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, indexed: Sequence[str] = ("kind",)
    ) -> AbstractAsyncContextManager[VectorStore]:
        return open_edge(directory / "shard", dimensions, indexed)

    async def test_points_are_there_after_reopening(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await store.upsert(ANN, [point("stays", text="cello", kind="x"), point("gone")])
            await store.delete(ANN, ["gone"])
        async with self.opened(tmp_path) as store:
            (hit,) = await store.search(ANN, EAST, "cello", 5, {"kind": "x"})
            assert hit.id == "stays"
            assert await store.count(None) == 1

    async def test_nothing_that_was_written_is_lost_by_kill_9(self, tmp_path: Path) -> None:
        written = await written_until_killed("vectors", tmp_path / "shard", after=30)

        async with self.opened(tmp_path) as store:
            found = set(await scrolled(store, ANN, 500))
            assert set(written) <= found
            await store.upsert(ANN, [point("later", text="violoncello")])
            assert "later" in ids(await store.search(ANN, EAST, "violoncello", 5))

    async def test_a_new_filter_field_is_indexed_when_a_shard_is_opened_again(
        self, tmp_path: Path
    ) -> None:
        async with self.opened(tmp_path, indexed=()) as store:
            await store.upsert(ANN, [point("one", kind="x"), point("two", kind="y")])
        async with self.opened(tmp_path, indexed=("kind",)) as store:
            assert ids(await store.similar(ANN, EAST, 5, {"kind": "y"})) == ["two"]

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
