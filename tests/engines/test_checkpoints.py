"""Checkpoints of LadybugDB: behind writes, while nobody reads, and without loss where one fails."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import ladybug
import pytest

from fourtier.engines.graph.ladybug import open_ladybug, pausing
from fourtier.engines.graph.ladybug.files import log_bytes
from fourtier.engines.graph.ladybug.rows import read_through
from fourtier.engines.graph.ladybug.store import LadybugGraphStore
from fourtier.runtime.service.stores.graph import Value
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from tests.engines.graph_contract import ANN, READ, SCHEMA, create, row, things
from tests.support.waiting import wait_until

LIMIT = 1024 * 1024
TEXT = "x" * 20_000
#: Of rows with that text; seven writes pass the limit.
BATCH = 8
_BATCHES = LIMIT // (BATCH * len(TEXT)) + 2
#: Of each table of a large graph.
ROWS = 50_000
#: A query that takes longer than any test.
ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS total"


class Engine:
    """What the engine is asked while it makes a checkpoint."""

    def __init__(self) -> None:
        self.checkpoints = 0
        self.beside: list[str] = []
        self._running: list[str] = []
        self._lock = Lock()

    def begins(self, text: str) -> None:
        with self._lock:
            others = [*self._running]
            self._running.append(text)
        if text == "CHECKPOINT":
            self.beside += others
        elif "CHECKPOINT" in others:
            self.beside.append(text)

    def ends(self, text: str) -> None:
        with self._lock:
            self._running.remove(text)
            self.checkpoints += text == "CHECKPOINT"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real one, observed."""
    observed, execute = Engine(), ladybug.Connection.execute

    def observing(connection: ladybug.Connection, text: str, *arguments: Any) -> Any:
        observed.begins(text)
        try:
            return execute(connection, text, *arguments)
        finally:
            observed.ends(text)

    monkeypatch.setattr(ladybug.Connection, "execute", observing)
    return observed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "graph.lbug"


@pytest.fixture
async def store(file: Path) -> AsyncGenerator[LadybugGraphStore]:
    async with open_ladybug(file, SCHEMA) as store:
        yield store


def batch(number: int) -> list[dict[str, Value]]:
    return [row(f"{number:03} {n}", f"{number} {n} {TEXT}", number) for n in range(BATCH)]


async def fill(store: LadybugGraphStore, first: int) -> list[dict[str, Value]]:
    """Write a little more than the limit; what was written."""
    written: list[dict[str, Value]] = []
    for number in range(first, first + _BATCHES):
        await create(store, *batch(number))
        written += batch(number)
    return written


async def test_the_log_is_short_again_behind_writes_that_pass_its_limit(
    engine: Engine, file: Path
) -> None:
    written: list[dict[str, Value]] = []
    writing = True

    async def read() -> None:
        while writing:
            confirmed = len(written)
            found = await store.read(ANN, READ)
            assert found[:confirmed] == written[:confirmed]

    async with open_ladybug(file, SCHEMA) as store:
        readers = [asyncio.create_task(read()) for _ in range(3)]
        for number in range(40):
            await create(store, *batch(number))
            written += batch(number)
        await wait_until(lambda: log_bytes(file) < LIMIT)
        writing = False
        await asyncio.gather(*readers)

        assert engine.checkpoints > 1
        assert engine.beside == []
        assert await store.read(ANN, READ) == written
    async with open_ladybug(file, SCHEMA) as store:
        assert await store.read(ANN, READ) == written


async def test_a_checkpoint_that_fails_loses_nothing_and_is_tried_again(
    engine: Engine,
    store: LadybugGraphStore,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(pausing, "_WITHIN", 0.1)
    query = asyncio.create_task(store.read(None, ENDLESS))
    await wait_until(lambda: ENDLESS in engine._running)
    with caplog.at_level(logging.WARNING):
        written = await fill(store, 0)
        await wait_until(lambda: "cannot move its log" in caplog.text)
    assert f"The graph {file} cannot move its log into its file: a query takes" in caplog.text
    assert await store.read(ANN, READ) == written

    for connection in store._connections:
        connection.interrupt()
    with pytest.raises(RuntimeError, match="Interrupted"):
        await query
    assert log_bytes(file) > LIMIT
    written += await fill(store, _BATCHES)
    await wait_until(lambda: log_bytes(file) < LIMIT)
    assert await store.read(ANN, READ) == written


async def test_a_store_that_is_closed_has_no_log_even_after_a_statement_that_failed(
    file: Path,
) -> None:
    async with open_ladybug(file, SCHEMA) as store:
        await create(store, row("a"))
        with suppress(Exception):
            await create(store, row("a"))
    assert log_bytes(file) == 0
    async with open_ladybug(file, SCHEMA) as store:
        assert await things(store) == ["a"]


@pytest.mark.slow
async def test_a_graph_that_is_larger_than_the_buffer_is_rewritten(file: Path) -> None:
    texts = tuple(f"text{number}" for number in range(6))
    nodes = [
        Node(f"Table{number}", {"id": "STRING", **dict.fromkeys(texts, "STRING")})
        for number in range(12)
    ]
    values = ", ".join(f"'{name} of ' + string(n) + ' {'x' * 40}'" for name in texts)
    async with open_ladybug(file, GraphSchema(nodes)) as store:
        for node in nodes:
            rows = f"UNWIND range(1, {ROWS}) AS n RETURN string(n), {values}"
            fill = f"COPY {node.label} FROM ({rows})"
            await store.execute(lambda connection, fill=fill: read_through(connection, fill))
            await store.execute(lambda connection: read_through(connection, "CHECKPOINT"))
        await store.erase()
        for node in nodes:
            counted = await store.read(None, f"MATCH (n:{node.label}) RETURN count(n) AS number")
            assert counted == [{"number": ROWS}]
