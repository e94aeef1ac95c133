"""What every graph store does: inherit the class and say how yours is opened."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import NoneType

import pytest

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.runtime.service.stores.graph import ConflictError, GraphStore, Statement, Value
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation
from fourtier.schema.message import Scope

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")

#: The labels do not belong to a service, so that the tests may run on a server that is used.
SCHEMA = GraphSchema(
    nodes=[
        Node(
            "ContractThing",
            {
                "id": "STRING",
                "scope": "STRING",
                "text": "STRING",
                "number": "INT64",
                "share": "DOUBLE",
                "flag": "BOOL",
            },
            indexed=("scope",),
        ),
        Node("ContractGroup", {"id": "STRING", "scope": "STRING"}),
    ],
    relations=[Relation("CONTRACT_HOLDS", "ContractGroup", "ContractThing")],
)

CREATE = """
UNWIND $rows AS row
CREATE (t:ContractThing {id: row.id})
SET t.scope = $scope, t.text = row.text, t.number = row.number, t.share = row.share,
    t.flag = row.flag
"""
READ = """
MATCH (t:ContractThing)
WHERE t.scope = $scope
RETURN t.id AS id, t.text AS text, t.number AS number, t.share AS share, t.flag AS flag
ORDER BY id
"""
#: Requires that a node exists, and locks it until the end of the transaction.
RAISE_VERSION = """
MATCH (t:ContractThing {id: $id})
SET t.flag = true
WITH t
WHERE t.scope = $scope
RETURN t.id AS id
"""
#: Counts on from a number that was read, if it is still the number.
COUNT = """
MATCH (t:ContractThing {id: $id})
SET t.share = 0.0
WITH t
WHERE t.scope = $scope AND t.number = $number
SET t.number = $number + 1, t.text = $text
RETURN t.id AS id
"""
DELETE = "MATCH (t:ContractThing {id: $id}) WHERE t.scope = $scope DETACH DELETE t"
DELETE_ALL = "MATCH (t:ContractThing) WHERE t.scope = $scope DETACH DELETE t"
WRITERS = 20
IDS = "MATCH (t:ContractThing) WHERE t.scope = $scope RETURN t.id AS id ORDER BY id"


def row(name: str, text: str = "", number: int = 0) -> dict[str, Value]:
    return {"id": name, "text": text, "number": number, "share": 0.0, "flag": False}


async def things(store: GraphStore, scope: Scope = ANN) -> list[Value]:
    return [found["id"] for found in await store.read(scope, IDS)]


async def create(store: GraphStore, *rows: dict[str, Value], scope: Scope = ANN) -> None:
    await store.write(scope, Statement(CREATE, {"rows": rows}))


class GraphStoreContract:
    def opened(
        self, directory: Path, schema: GraphSchema = SCHEMA
    ) -> AbstractAsyncContextManager[GraphStore]:
        """A store with its nodes in `directory`, or on a server."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncGenerator[GraphStore]:
        async with self.opened(tmp_path) as store:
            await store.write(
                None,
                Statement("MATCH (t:ContractThing) DETACH DELETE t"),
                Statement("MATCH (g:ContractGroup) DETACH DELETE g"),
            )
            yield store

    async def test_what_is_written_is_read(self, store: GraphStore) -> None:
        await create(store, row("a", "one", 1), row("b", "two", 2))

        assert await store.read(ANN, READ) == [row("a", "one", 1), row("b", "two", 2)]
        assert await store.read(BOB, READ) == []

    @pytest.mark.parametrize(
        "text",
        ["", "'quoted' \"twice\" \\ $scope {x}", "line\nline\ttab", "ключ 鍵 🦊 é", "x" * 100_000],
    )
    async def test_texts_come_back_as_they_were(self, store: GraphStore, text: str) -> None:
        await create(store, row(f"id {text[:50]}", text))

        assert await store.read(ANN, READ) == [row(f"id {text[:50]}", text)]

    async def test_no_id_that_may_be_there_is_taken_for_unknown(self, store: GraphStore) -> None:
        await create(store, row("before"))
        store.known_ids.add("ContractThing", ["soon"])
        known = await store.known_ids.among("ContractThing", ["before", "soon", "never"])
        assert {"before", "soon"} <= set(known)

        store.known_ids.add("ContractThing", ["later"])
        assert await store.known_ids.among("ContractThing", {"later"}) == ["later"]

    async def test_erasing_leaves_what_was_not_deleted(self, store: GraphStore) -> None:
        rest = [row("a", "line\n'quoted'", 1), row("b", "", 2)]
        await create(store, *rest, row("c", "gone", 3))
        await create(store, row("theirs"), scope=BOB)
        await store.write(
            ANN,
            Statement("CREATE (g:ContractGroup {id: 'g'}) SET g.scope = $scope"),
            Statement(
                "MATCH (g:ContractGroup {id: 'g'}), (t:ContractThing {id: 'a'}) "
                "WHERE t.scope = $scope CREATE (g)-[:CONTRACT_HOLDS]->(t)"
            ),
        )
        await store.write(ANN, Statement(DELETE, {"id": "c"}))

        for remainder in await store.erase():
            assert remainder.where
            assert remainder.until

        assert await store.read(ANN, READ) == rest
        assert await things(store, BOB) == ["theirs"]
        held = "MATCH (g:ContractGroup)-[:CONTRACT_HOLDS]->(t:ContractThing) RETURN t.id AS id"
        assert await store.read(None, held) == [{"id": "a"}]
        await create(store, row("later"))
        assert await things(store) == ["a", "b", "later"]

    async def test_values_of_each_type(self, store: GraphStore) -> None:
        rows: list[dict[str, Value]] = [
            {"id": "a", "text": "", "number": 2**62, "share": 0.1, "flag": True},
            {"id": "b", "text": "x", "number": -1, "share": -2.5e300, "flag": False},
            {"id": "c", "text": "y", "number": 0, "share": 2, "flag": True},
        ]
        await create(store, *rows)
        await create(store, {"id": "d", "text": "z", "number": 5, "share": 1.5, "flag": True})

        found = await store.read(ANN, READ)

        assert found[:3] == rows
        assert found[3]["share"] == 1.5
        assert [type(each["flag"]) for each in found] == [bool] * 4
        assert [type(each["number"]) for each in found] == [int] * 4
        flagged = (
            "MATCH (t:ContractThing) WHERE t.scope = $scope AND t.flag = $flag RETURN t.id AS id"
        )
        assert len(await store.read(ANN, flagged, flag=True)) == 3

    async def test_rows_are_taken_by_their_keys_in_any_order(self, store: GraphStore) -> None:
        turned = dict(reversed(row("b", "second", 2).items()))
        await create(store, row("a", "first", 1), turned)
        await create(store, dict(reversed(row("c", "third", 3).items())))

        assert await store.read(ANN, READ) == [
            row("a", "first", 1),
            row("b", "second", 2),
            row("c", "third", 3),
        ]

    async def test_merge_writes_once(self, store: GraphStore) -> None:
        merge = (
            "UNWIND $rows AS row MERGE (t:ContractThing {id: row.id}) "
            "SET t.scope = $scope, t.text = row.text, t.number = 0, t.share = 0.0, t.flag = false"
        )
        for text in ("old", "new"):
            rows = [{"id": "a", "text": text}, {"id": "b", "text": text}]
            await store.write(ANN, Statement(merge, {"rows": rows}))

        found = await store.read(ANN, READ)
        assert [(each["id"], each["text"]) for each in found] == [("a", "new"), ("b", "new")]

    async def test_a_row_is_whole_though_its_node_is_being_deleted(self, store: GraphStore) -> None:
        whole = [row(f"{n:03}", "text", n) for n in range(200)]
        for _ in range(5):
            await create(store, *whole)
            deleting = asyncio.create_task(store.write(ANN, Statement(DELETE_ALL)))
            while not deleting.done():
                for found in await store.read(ANN, READ):
                    assert found == whole[int(found["number"])]
            await deleting

    async def test_the_same_key_twice_is_an_error(self, store: GraphStore) -> None:
        await create(store, row("a", "first"))

        with pytest.raises(Exception, match=r"(?i)duplicate|already exists"):
            await create(store, row("b"), row("a", "second"))

        assert await store.read(ANN, READ) == [row("a", "first")]

    async def test_a_transaction_is_stored_whole_or_not_at_all(self, store: GraphStore) -> None:
        await create(store, row("a"))
        with pytest.raises(Exception, match=r"(?i)zero|duplicate|already exists"):
            await store.write(
                ANN,
                Statement(CREATE, {"rows": [row("b")]}),
                Statement(DELETE_ALL),
                Statement(CREATE, {"rows": [row("c"), row("c")]}),
            )

        assert await things(store) == ["a"]
        await create(store, row("d"))
        assert await things(store) == ["a", "d"], "the store works on after a failure"

    async def test_later_statements_see_what_earlier_ones_wrote(self, store: GraphStore) -> None:
        results = await store.write(
            ANN,
            Statement(CREATE, {"rows": [row("a"), row("b")]}),
            Statement(READ),
            Statement(
                "MATCH (t:ContractThing {id: $id}) WHERE t.scope = $scope DELETE t", {"id": "a"}
            ),
            Statement(IDS),
        )

        assert results[0] == results[2] == []
        assert results[1] == [row("a"), row("b")]
        assert results[3] == [{"id": "b"}]

    async def test_an_error_of_the_engine_tells_its_cause(self, store: GraphStore) -> None:
        with pytest.raises(Exception, match=r"(?i)syntax|parser"):
            await store.read(None, "MATCH (t:ContractThing RETURN t")
        with pytest.raises(Exception, match=r"(?i)syntax|parser"):
            await store.write(None, Statement("CREATE (t:ContractThing"))
        assert await things(store) == []

    async def test_relations_are_followed(self, store: GraphStore) -> None:
        await create(store, row("a", number=1), row("b", number=2), row("c", number=3))
        await store.write(
            ANN,
            Statement("CREATE (g:ContractGroup {id: $id}) SET g.scope = $scope", {"id": "g"}),
            Statement(
                "UNWIND $ids AS wanted "
                "MATCH (g:ContractGroup {id: $holder}), (t:ContractThing {id: wanted}) "
                "WHERE t.scope = $scope CREATE (g)-[:CONTRACT_HOLDS]->(t)",
                {"holder": "g", "ids": ["a", "c"]},
            ),
        )
        follow = (
            "MATCH (g:ContractGroup {id: $holder})-[:CONTRACT_HOLDS]->(t:ContractThing) "
            "WHERE g.scope = $scope RETURN t.id AS id, t.number AS number "
            "ORDER BY number DESC LIMIT $n"
        )

        assert await store.read(ANN, follow, holder="g", n=9) == [
            {"id": "c", "number": 3},
            {"id": "a", "number": 1},
        ]
        assert await store.read(ANN, follow, holder="g", n=1) == [{"id": "c", "number": 3}]
        assert await store.read(BOB, follow, holder="g", n=9) == []

        await store.write(
            ANN, Statement("MATCH (g:ContractGroup) WHERE g.scope = $scope DETACH DELETE g")
        )
        assert await things(store) == ["a", "b", "c"]

    async def test_reading_by_a_list_finds_only_its_ids(self, store: GraphStore) -> None:
        await create(store, *(row(name) for name in "abcd"))
        by_ids = (
            "UNWIND $ids AS wanted MATCH (t:ContractThing {id: wanted}) "
            "WHERE t.scope = $scope RETURN t.id AS id"
        )

        found = await store.read(ANN, by_ids, ids=["d", "missing", "a"])

        assert sorted(str(each["id"]) for each in found) == ["a", "d"]
        assert await store.read(BOB, by_ids, ids=["a"]) == []
        assert await store.read(ANN, by_ids, ids=[]) == []

    async def test_pages(self, store: GraphStore) -> None:
        await create(store, *(row(f"t{n:02}") for n in range(10)))
        page = IDS + " SKIP $offset LIMIT $limit"

        pages = [await store.read(ANN, page, offset=n, limit=4) for n in (0, 4, 8, 12)]

        assert [len(each) for each in pages] == [4, 4, 2, 0]
        assert [each["id"] for found in pages for each in found] == [f"t{n:02}" for n in range(10)]

    async def test_a_statement_in_a_scope_that_does_not_use_it_is_an_error(
        self, store: GraphStore
    ) -> None:
        everything = "MATCH (t:ContractThing) RETURN t.id AS id"
        with pytest.raises(ValueError, match=r"\$scope is given, but not used"):
            await store.read(ANN, everything)
        with pytest.raises(ValueError, match=r"\$scope is given, but not used"):
            await store.write(ANN, Statement(everything))

        await create(store, row("a"))
        await create(store, row("b"), scope=BOB)
        assert len(await store.read(None, everything)) == 2

    async def test_parameters_are_exactly_those_that_are_named(self, store: GraphStore) -> None:
        with pytest.raises(ValueError, match=r"no value is given for \$scope"):
            await store.read(None, IDS)
        with pytest.raises(ValueError, match=r"no value is given for \$rows"):
            await store.write(ANN, Statement(CREATE))
        with pytest.raises(ValueError, match=r"\$more is given, but not used"):
            await store.read(ANN, IDS, more="x")

    async def test_writing_that_builds_on_deleted_nodes_is_a_conflict(
        self, store: GraphStore
    ) -> None:
        await create(store, row("a"))
        statement = Statement(RAISE_VERSION, {"id": "b"}, rows=1)
        with pytest.raises(ConflictError, match="0 rows instead of 1"):
            await store.write(ANN, Statement(CREATE, {"rows": [row("c")]}), statement)
        with pytest.raises(ConflictError):
            await store.write(ANN, statement)

        assert await things(store) == ["a"]
        await create(store, row("d"))  # the store goes on
        assert await things(store) == ["a", "d"]

    async def test_of_those_who_read_the_same_one_writes(self, store: GraphStore) -> None:
        """Twenty writers count to twenty, each by what it has read."""
        await create(store, row("a"))
        tries = 0

        async def count() -> None:
            nonlocal tries
            tries += 1
            (read,) = await store.read(ANN, READ)
            step = {"id": "a", "number": read["number"], "text": f"{read['number']} and one"}
            await store.write(ANN, Statement(COUNT, step, rows=1))

        await asyncio.gather(*(retry_on_conflict(count) for _ in range(WRITERS)))

        assert await store.read(ANN, READ) == [row("a", f"{WRITERS - 1} and one", WRITERS)]
        assert tries > WRITERS

    async def test_writing_to_a_node_that_is_deleted_meanwhile_is_a_conflict(
        self, store: GraphStore
    ) -> None:
        async def delete() -> None:
            await store.write(ANN, Statement(DELETE, {"id": "a"}))

        async def raise_version(name: str) -> None:
            more = Statement(CREATE, {"rows": [row(name)]})
            await store.write(ANN, Statement(RAISE_VERSION, {"id": "a"}, rows=1), more)

        outcomes: dict[str, BaseException | None] = {}
        for turn in range(10):
            await create(store, row("a"))
            names = [f"writer {turn} {number}" for number in range(4)]
            writing, deleting = [raise_version(name) for name in names], delete()
            _, *done = await asyncio.gather(deleting, *writing, return_exceptions=True)
            outcomes |= dict(zip(names, done, strict=True))

        assert {type(each) for each in outcomes.values()} <= {NoneType, ConflictError}
        assert await things(store) == [name for name, error in outcomes.items() if error is None]

    async def test_a_read_cannot_write(self, store: GraphStore) -> None:
        with pytest.raises(Exception, match=r"(?i)read-only|read access mode"):
            await store.read(ANN, "CREATE (t:ContractThing {id: 'a'}) SET t.scope = $scope")

        assert await things(store) == []

    async def test_concurrent_readers_and_writers(self, store: GraphStore) -> None:
        await seen_while_writing(store)

        assert len(await things(store)) == 200


async def seen_while_writing(store: GraphStore) -> list[int]:
    """How many things readers saw while twenty writers wrote ten each."""

    async def write(batch: int) -> None:
        await create(store, *(row(f"{batch} {n}") for n in range(10)))

    async def read() -> int:
        return len(await things(store))

    writers = asyncio.gather(*map(write, range(20)))
    seen = await asyncio.gather(*(read() for _ in range(40)))
    await writers
    return seen
