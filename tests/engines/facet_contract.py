"""Payload fields of several values, and counting them: part of the vector stores' contract."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.runtime.service.stores.query import AnyOf, DenseLeg, Equals, Group
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Facet, Point, VectorStore
from fourtier.schema.message import Scope
from tests.engines.vectors_operations import EAST, ids

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
TAGGED = Fields(["tags", "kind"])


def tagged(name: str, *tags: str, kind: str = "x") -> Point:
    return Point.of(name, EAST, name, {"tags": list(tags), "kind": kind})


class FacetContract:
    def opened(
        self, directory: Path, dimensions: int, fields: Fields
    ) -> AbstractAsyncContextManager[VectorStore]:
        raise NotImplementedError

    @pytest.fixture
    async def tags(self, tmp_path: Path) -> AsyncGenerator[VectorStore]:
        async with self.opened(tmp_path, 4, TAGGED) as store:
            yield store

    async def test_a_condition_holds_for_any_value_of_a_field(self, tags: VectorStore) -> None:
        points = [tagged("both", "oslo", "bergen"), tagged("one", "oslo"), tagged("none")]
        await tags.upsert(ANN, points)

        assert await tags.count(ANN, [Equals("tags", "oslo")]) == 2
        assert await tags.count(ANN, [Equals("tags", "oslo"), Equals("tags", "bergen")]) == 1
        for where, found in (
            ([AnyOf("tags", ["bergen", "paris"])], {"both"}),
            ([AnyOf("tags", ["bergen", "oslo"])], {"both", "one"}),
            ([Equals("tags", "paris")], set[str]()),
        ):
            assert set(ids(await tags.query(ANN, [DenseLeg(EAST)], 9, where))) == found
        (hit,) = await tags.get(ANN, ["both"])
        assert hit.payload == {"tags": ["oslo", "bergen"], "kind": "x"}

    async def test_facets_count_each_point_once_and_the_most_frequent_first(
        self, tags: VectorStore
    ) -> None:
        await tags.upsert(
            ANN,
            [
                tagged("a", "oslo", "Ålesund", "oslo"),
                tagged("b", "oslo", "bergen"),
                tagged("c", "bergen", "Paris"),
                tagged("d", "ålesund", kind="y"),
                tagged("e"),
            ],
        )
        counted = [
            Facet("bergen", 2),
            Facet("oslo", 2),
            Facet("Paris", 1),
            Facet("Ålesund", 1),
            Facet("ålesund", 1),
        ]

        assert await tags.facet(ANN, "tags", 100) == counted
        for limit in (1, 3, 4):
            assert await tags.facet(ANN, "tags", limit) == counted[:limit]
        assert await tags.facet(ANN, "tags", 9, [Equals("kind", "y")]) == [Facet("ålesund", 1)]
        assert await tags.facet(ANN, "tags", 9, [Equals("tags", "Paris")]) == [
            Facet("Paris", 1),
            Facet("bergen", 1),
        ]
        assert await tags.facet(ANN, "kind", 9) == [Facet("x", 4), Facet("y", 1)]

    async def test_facets_are_exact_where_there_are_many(self, tags: VectorStore) -> None:
        points = [tagged(f"p{n}", *(f"t{n % each:03}" for each in (7, 50))) for n in range(1_400)]
        await tags.upsert(ANN, points)

        found = await tags.facet(ANN, "tags", 1_000)

        assert sum(each.number for each in found) == sum(
            len(set(map(str, point.payload["tags"])))
            if isinstance(point.payload["tags"], list)
            else 0
            for point in points
        )
        assert [each.value for each in found[:7]] == [f"t{n:03}" for n in range(7)]

    async def test_facets_have_nothing_of_others_and_of_what_is_gone(
        self, tags: VectorStore
    ) -> None:
        await tags.upsert(ANN, [tagged("one", "oslo"), tagged("two", "bergen")])
        await tags.upsert(BOB, [tagged("one", "oslo"), tagged("three", "paris")])
        assert await tags.facet(ANN, "tags", 9) == [Facet("bergen", 1), Facet("oslo", 1)]

        await tags.upsert(ANN, [tagged("one", "rome")])
        await tags.delete(ANN, ["two"])

        assert await tags.facet(ANN, "tags", 9) == [Facet("rome", 1)]
        await tags.delete_scope(ANN)
        assert await tags.facet(ANN, "tags", 9) == []
        assert await tags.facet(BOB, "tags", 9) == [Facet("oslo", 1), Facet("paris", 1)]

    async def test_only_keywords_of_the_collection_can_be_counted(self, tags: VectorStore) -> None:
        for field in ("nothing", "scope", "dense"):
            with pytest.raises(ValueError, match=f"no field {field}"):
                await tags.facet(ANN, field, 9)

    async def test_a_point_of_several_values_is_in_no_group(self, tags: VectorStore) -> None:
        await tags.upsert(ANN, [tagged("a", "oslo", "rome"), tagged("b", "oslo", "rome")])
        found = await tags.query(ANN, [DenseLeg(EAST)], 9, group=Group("tags"))
        assert set(ids(found)) == {"a", "b"}
