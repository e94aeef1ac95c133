"""Statements that run with each write read what they name, and no whole tables into the buffer."""

from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.ladybug.rows import read_rows, read_through
from fourtier.engines.graph.ladybug.store import LadybugGraphStore
from fourtier.engines.graph.queries import load_queries
from fourtier.memory.archive.graph_schema import SCHEMA
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import Node
from fourtier.schema.message import Scope

pytestmark = pytest.mark.embedded

ANN = Scope("ann", "default")
ROWS = 20_000
#: What whole tables take here is 9 to 40 MB.
MOST_BYTES = 8 * 1024 * 1024
TEXT = "'a text of ' + string(n) + ' with some words'"
LABELS = ("ArchivePage", "ArchiveEntry", "ArchiveMemo")
READS = {"entries_of": "pages", "of_pages": "pages", "made_with": "ids", "shown": "ids"}
WRITES = {
    "come_on_pages": ("entries", {"page_id": "5", "id": "9", "page": 3}),
    "show": ("shown", {"memo": "5", "shown": "9"}),
}


def filling(node: Node) -> str:
    special = {"id": "string(n)", "scope": f"'{ANN.key}'"}
    kinds = {"STRING": TEXT, "INT64": "n", "BOOL": "true"}
    columns = (special.get(name, kinds[kind]) for name, kind in node.properties.items())
    return f"COPY {node.label} FROM (UNWIND range(1, {ROWS}) AS n RETURN {', '.join(columns)})"


@pytest.fixture(scope="module")
def queries() -> dict[str, str]:
    files = ("queries.cypher", "memos.cypher")
    return {
        name: text
        for file in files
        for name, text in load_queries("fourtier.memory.archive", file).items()
    }


async def buffer_bytes(store: LadybugGraphStore) -> int:
    info = "CALL bm_info() RETURN *"
    rows = await store.execute(lambda connection: read_rows(connection, info, {}))
    return int(rows[0]["mem_usage"])


async def test_no_whole_table_is_read(tmp_path: Path, queries: dict[str, str]) -> None:
    file = tmp_path / "graph.lbug"
    pairs = f"(UNWIND range(1, {ROWS}) AS n RETURN string(n), string(n))"
    texts = [filling(node) for node in SCHEMA.nodes if node.label in LABELS]
    texts += [f"COPY {relation.label} FROM {pairs}" for relation in SCHEMA.relations]
    async with open_ladybug(file, SCHEMA) as store:
        for text in texts:
            await store.execute(lambda connection, text=text: read_through(connection, text))
    used: dict[str, int] = {}
    for name in (*READS, *WRITES):
        async with open_ladybug(file, SCHEMA) as store:
            before = await buffer_bytes(store)
            if name in READS:
                scope = ANN if "$scope" in queries[name] else None
                rows = await store.read(scope, queries[name], **{READS[name]: ["3", "19000"]})
                assert len(rows) == 2
            else:
                parameter, row = WRITES[name]
                await store.write(None, Statement(queries[name], {parameter: [row]}))
            used[name] = await buffer_bytes(store) - before
    assert {name: number for name, number in used.items() if number > MOST_BYTES} == {}
