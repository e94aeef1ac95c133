"""LadybugDB: the contract, and what belongs to a file on disk."""

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.stores.graph import ConflictError, GraphStore, Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from tests.engines.crash import SCHEMA as CRASH_SCHEMA
from tests.engines.crash import written_until_killed
from tests.engines.graph_contract import (
    ANN,
    DELETE,
    SCHEMA,
    GraphStoreContract,
    create,
    row,
    seen_while_writing,
    things,
)
from tests.forgetting.bytes import canary, find

pytestmark = pytest.mark.processes


def copy_as_killed(directory: Path, copy: Path) -> None:
    """The files of an open graph as `kill -9` would leave them."""
    copy.mkdir()
    for file in directory.glob("graph.lbug*"):
        (copy / file.name).write_bytes(file.read_bytes())


class TestLadybug(GraphStoreContract):
    def opened(
        self, directory: Path, schema: GraphSchema = SCHEMA
    ) -> AbstractAsyncContextManager[GraphStore]:
        return open_ladybug(directory / "graph.lbug", schema)

    async def test_nodes_are_there_after_reopening(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await create(store, row("a", "text", 3), row("ключ"))
        async with self.opened(tmp_path) as store:
            assert await things(store) == ["a", "ключ"]
            await create(store, row("b"))
            assert await things(store) == ["a", "b", "ключ"]

    async def test_nothing_that_was_written_is_lost_by_kill_9(self, tmp_path: Path) -> None:
        written = await written_until_killed("graph", tmp_path / "graph.lbug", after=30)

        async with self.opened(tmp_path, CRASH_SCHEMA) as store:
            rows = await store.read(ANN, "MATCH (f:Fact) WHERE f.scope = $scope RETURN f.id AS id")
            found = {found["id"] for found in rows}
            assert set(written) <= found
            assert len(found) % 10 == 0, "a transaction was stored in part"
            related = await store.read(
                None, "MATCH (f:Fact)-[:AFTER]->(b:Fact) RETURN count(f) AS number"
            )
            assert related == [{"number": len(found) - 10}]

    async def test_ids_that_are_not_there_need_no_read(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await create(store, row("a"))
        async with self.opened(tmp_path) as store:
            assert await store.known_ids.among("ContractThing", ["a", "b"]) == ["a"]
            assert await store.known_ids.among("ContractGroup", ["a"]) == []

    async def test_a_statement_that_failed_does_not_keep_what_was_deleted_on_the_disk(
        self, tmp_path: Path
    ) -> None:
        word = canary()
        async with self.opened(tmp_path) as store:
            await create(store, row("a"), row("b", word))
            with pytest.raises(ConflictError):
                await create(store, row("a"))
            await store.write(ANN, Statement(DELETE, {"id": "b"}))
            assert await store.erase() == ()
            assert await things(store) == ["a"]
            assert find(tmp_path, [word]) == []

    @pytest.mark.parametrize("filled", [True, False])
    @pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5, 0.9])
    async def test_a_write_that_a_full_disk_cut_off_costs_only_itself(
        self, tmp_path: Path, share: float, *, filled: bool
    ) -> None:
        log = tmp_path / "killed" / "graph.lbug.wal"
        async with self.opened(tmp_path) as store:
            await create(store, row("a"))
            await create(store, row("b"))
            before = (tmp_path / log.name).stat().st_size
            await create(store, row("c"))
            copy_as_killed(tmp_path, log.parent)
        whole = log.read_bytes()
        torn = whole[: before + 1 + int(share * (len(whole) - before))]
        if filled:  # as some disks leave what was not written
            torn += bytes(len(whole) - len(torn))
        log.write_bytes(torn)

        for more in ("d", "e"):
            async with self.opened(log.parent) as store:
                await create(store, row(more))
        async with self.opened(log.parent) as store:
            assert await things(store) == ["a", "b", "d", "e"]
        assert [copy.stat().st_size for copy in log.parent.glob("*.torn-*")] == [len(torn)]

    async def test_readers_see_whole_transactions(self, store: GraphStore) -> None:
        assert {count % 10 for count in await seen_while_writing(store)} == {0}

    async def test_properties_of_a_newer_release_are_added_to_an_older_file(
        self, tmp_path: Path
    ) -> None:
        def schema(**more: str) -> GraphSchema:
            return GraphSchema([Node("Thing", {"id": "STRING", "scope": "STRING"} | more)])

        async with self.opened(tmp_path, schema()) as store:
            await store.write(ANN, Statement("CREATE (t:Thing {id: 'old'}) SET t.scope = $scope"))
        newer = schema(text="STRING", number="INT64", share="DOUBLE", flag="BOOL")
        for _ in range(2):
            async with self.opened(tmp_path, newer) as store:
                found = await store.read(
                    ANN,
                    "MATCH (t:Thing) WHERE t.scope = $scope "
                    "RETURN t.text AS text, t.number AS number, t.share AS share, t.flag AS flag",
                )
                assert found == [{"text": "", "number": 0, "share": 0.0, "flag": False}]

    async def test_one_process_at_a_time(self, tmp_path: Path) -> None:
        other = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import ladybug, sys\n"
            f"database = ladybug.Database({str(tmp_path / 'graph.lbug')!r})\n"
            "print('open', flush=True)\n"
            "sys.stdin.read()\n",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert other.stdout
        assert await other.stdout.readline() == b"open\n"
        with pytest.raises(StartupError, match="in use by another process"):
            async with self.opened(tmp_path):
                pass
        await other.communicate(b"")

        async with self.opened(tmp_path) as store:
            assert await things(store) == []

    async def test_a_file_that_is_not_a_graph_is_a_startup_error(self, tmp_path: Path) -> None:
        (tmp_path / "graph.lbug").write_bytes(b"something else" * 1000)
        with pytest.raises(StartupError, match="cannot be opened"):
            async with self.opened(tmp_path):
                pass

    async def test_a_file_instead_of_the_directory_is_a_startup_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(StartupError, match="cannot be opened"):
            async with self.opened(tmp_path / "file"):
                pass
