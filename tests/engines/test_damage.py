"""Embedded stores that have vanished or are damaged: an error with the remedy, never silence."""

import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fourtier.engines.config import EngineConfig
from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.opening import open_graph, open_vectors
from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.stores.schemas import Collection, Fields
from fourtier.runtime.service.stores.vectors import Point
from fourtier.schema.message import Vector
from tests.engines.crash import SCHEMA as CRASH_SCHEMA
from tests.engines.crash import written_until_killed
from tests.engines.graph_contract import ANN, READ, create, row, things
from tests.engines.graph_contract import SCHEMA as GRAPH_SCHEMA
from tests.engines.searching import similar
from tests.engines.vectors_contract import DIMENSIONS, point
from tests.engines.vectors_operations import EAST

INDEX = Collection("index", Fields(["kind"]), rebuild="fourtier facts reindex")
TRUTH = Collection("truth", Fields(["kind"]))
SCHEMA = replace(GRAPH_SCHEMA, index=INDEX.name)
PAGE = 4_096
#: What a crash leaves of a manifest.
IN_USE = '{"written_at": "2026-01-01T00:00:00Z"}'
POINTS = 200


@pytest.fixture
async def config(tmp_path: Path) -> EngineConfig:
    """A service that has stored something and was stopped in order."""
    config = EngineConfig(tmp_path / "service", dimensions=DIMENSIONS)
    async with (
        open_graph(config, SCHEMA) as graph,
        open_vectors(config, INDEX) as index,
        open_vectors(config, TRUTH) as truth,
    ):
        await create(graph, *(row(f"id{n}", f"some text about {n}", n) for n in range(POINTS)))
        points = [
            Point.of(f"p{n}", Vector.of([1, n, 0, 0]), f"text {n}", {"kind": "x"})
            for n in range(POINTS)
        ]
        await index.upsert(ANN, points)
        await truth.upsert(ANN, points)
    return config


def overwrite(file: Path, offset: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(content)


async def start(config: EngineConfig) -> None:
    async with (
        open_graph(config, SCHEMA),
        open_vectors(config, INDEX),
        open_vectors(config, TRUTH),
    ):
        pass


async def test_a_sound_service_starts_again_and_again(config: EngineConfig) -> None:
    for _ in range(3):
        await start(config)
    async with open_graph(config, SCHEMA) as graph:
        assert len(await things(graph)) == POINTS


async def test_a_copy_of_a_stopped_service_starts_without_holes_in_its_files(
    config: EngineConfig, tmp_path: Path
) -> None:
    shutil.copytree(config.data, tmp_path / "copy")
    await start(EngineConfig(tmp_path / "copy", dimensions=DIMENSIONS))


def remove(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("lose", [remove, empty])
@pytest.mark.parametrize("manifest_stays", [True, False])
async def test_a_graph_that_has_vanished_is_a_startup_error(
    config: EngineConfig, lose: Callable[[Path], None], *, manifest_stays: bool
) -> None:
    graph = config.data / "graph.lbug"
    lose(graph)
    if not manifest_stays:
        (config.data / "manifest-graph.json").unlink()

    with pytest.raises(StartupError, match=rf"graph {graph} is missing.*backup.*operating\.md"):
        await start(config)


async def test_deleting_the_manifest_of_a_lost_graph_begins_anew(tmp_path: Path) -> None:
    """A service without an index, such as conversations."""
    config = EngineConfig(tmp_path / "service")
    async with open_graph(config, SCHEMA) as graph:
        await create(graph, row("a"))
    (config.data / "graph.lbug").unlink()
    with pytest.raises(StartupError, match=r"delete .*manifest-graph\.json to begin"):
        async with open_graph(config, SCHEMA):
            pass

    (config.data / "manifest-graph.json").unlink()

    async with open_graph(config, SCHEMA) as graph:
        assert await things(graph) == []


async def test_an_index_that_has_vanished_is_logged_with_the_command_that_rebuilds_it(
    config: EngineConfig, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(config.data / "vectors-index")
    with caplog.at_level(logging.ERROR):
        await start(config)
    (said,) = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert f"{config.data}/vectors-index is missing or empty" in said
    assert "`fourtier facts reindex` makes it again" in said


async def test_vectors_that_are_nowhere_else_and_have_vanished_are_a_startup_error(
    config: EngineConfig,
) -> None:
    shutil.rmtree(config.data / "vectors-truth")
    with pytest.raises(StartupError, match=r"vectors-truth is missing.*restore it from a backup"):
        await start(config)


@pytest.mark.parametrize("content", [bytes(PAGE), os.urandom(PAGE)])
@pytest.mark.parametrize("page", [0, 1, 3, 7])
async def test_a_damaged_page_of_the_graph_is_a_startup_error(
    config: EngineConfig, page: int, content: bytes
) -> None:
    graph = config.data / "graph.lbug"
    before = graph.read_bytes()
    overwrite(graph, page * PAGE, content)
    if graph.read_bytes() == before:
        pytest.skip("the page was empty")

    with pytest.raises(StartupError, match=rf"graph {graph} is damaged.*graph\.lbug.*backup"):
        await start(config)


@pytest.mark.parametrize("content", [bytes(PAGE), b"\xff" * PAGE])
async def test_a_damaged_page_of_any_file_of_an_index_is_a_startup_error(
    config: EngineConfig, content: bytes
) -> None:
    index = config.data / "vectors-index"
    for file in sorted(each for each in index.rglob("*") if each.is_file()):
        before = file.read_bytes()
        overwrite(file, 0, content[: min(PAGE, len(before))])
        if file.read_bytes() != before:
            with pytest.raises(
                StartupError, match=rf"{index} is damaged.*move .* away.*`fourtier facts reindex`"
            ):
                async with open_vectors(config, INDEX):
                    pass
        file.write_bytes(before)
    await start(config)


async def test_a_part_of_a_backup_is_taken_when_the_manifest_is_deleted(
    config: EngineConfig, tmp_path: Path
) -> None:
    old = shutil.copy(config.data / "graph.lbug", tmp_path / "old")
    async with open_graph(config, SCHEMA) as graph:
        await create(graph, row("later"))
    shutil.copy(old, config.data / "graph.lbug")
    with pytest.raises(StartupError, match=r"restoring a part of a backup, delete .*manifest-gr"):
        await start(config)

    (config.data / "manifest-graph.json").unlink()

    async with open_graph(config, SCHEMA) as graph:
        assert len(await things(graph)) == POINTS


def text_page(file: Path) -> int:
    """Where the texts of the things begin in a closed graph."""
    at = file.read_bytes().find(b"some text about 100")
    assert at > 0
    return at // PAGE * PAGE


async def test_random_bytes_found_after_a_crash_are_a_startup_error(config: EngineConfig) -> None:
    graph = config.data / "graph.lbug"
    overwrite(graph, text_page(graph), b"\xff" * PAGE)
    (config.data / "manifest-graph.json").write_text(IN_USE)

    with pytest.raises(StartupError, match=rf"graph {graph} is damaged.*restore it from a backup"):
        await start(config)


async def test_random_bytes_found_in_use_fail_reads_and_writes(config: EngineConfig) -> None:
    graph = config.data / "graph.lbug"
    manifest = config.data / "manifest-graph.json"
    async with open_graph(config, SCHEMA) as store:
        overwrite(graph, text_page(graph), b"\xff" * PAGE)  # not yet read: pages are read on demand
        remedy = rf"graph {graph} is damaged.*restore it from a backup"
        with pytest.raises(UnavailableError, match=remedy):
            await store.read(ANN, READ)
        with pytest.raises(UnavailableError, match=remedy):
            await create(store, row("new"))
        with pytest.raises(UnavailableError, match=remedy):
            await things(store)
    assert 'checksums":null' in manifest.read_text(), "damage must not be taken for sound"


async def test_an_index_whose_scopes_are_lost_is_found_after_a_crash(config: EngineConfig) -> None:
    """A zeroed page of the scopes' index: everything is there, and no search finds it."""
    shard = config.data / "vectors-index"
    (config.data / "manifest-vectors-index.json").write_text(IN_USE)
    await start(config)
    (config.data / "manifest-vectors-index.json").write_text(IN_USE)
    (tracker,) = shard.glob("segments/*/payload_index/*scope-map/tracker.dat")
    overwrite(tracker, 0, bytes(PAGE))

    with pytest.raises(StartupError, match=rf"{shard} is damaged.*index of scopes"):
        await start(config)


async def test_payloads_that_cannot_be_decoded_name_the_remedy(tmp_path: Path) -> None:
    shard = tmp_path / "shard"
    async with open_edge(shard, DIMENSIONS, Fields(), rebuild="fourtier facts reindex") as store:
        await store.upsert(ANN, [point(f"p{n}", kind="x" * 50) for n in range(50)])
    (page,) = shard.glob("segments/*/payload_storage/page_0.dat")
    async with open_edge(shard, DIMENSIONS, Fields(), rebuild="fourtier facts reindex") as store:
        overwrite(page, 0, b"\x7f" * PAGE)
        remedy = rf"{shard} is damaged.*move .* away.*`fourtier facts reindex`"
        with pytest.raises(UnavailableError, match=remedy):
            await similar(store, ANN, EAST, 50)
        with pytest.raises(UnavailableError, match=remedy):
            await store.upsert(ANN, [point("new")])


async def test_a_kill_is_not_taken_for_damage(tmp_path: Path) -> None:
    written = await written_until_killed("graph", tmp_path / "graph.lbug", after=30)
    async with open_ladybug(tmp_path / "graph.lbug", CRASH_SCHEMA) as store:
        rows = await store.read(None, "MATCH (f:Fact) RETURN count(f) AS number")
        assert int(rows[0]["number"]) >= len(written)
