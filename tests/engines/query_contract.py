"""What a search by several legs must do on each engine: part of the vector stores' contract."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.runtime.errors import PermanentError
from fourtier.runtime.service.stores.query import (
    AnyOf,
    DenseLeg,
    Equals,
    Group,
    MinMax,
    Range,
    Rrf,
    SparseLeg,
    Where,
)
from fourtier.runtime.service.stores.schemas import Fields, SparseField
from fourtier.runtime.service.stores.vectors import Found, Point, VectorStore
from fourtier.schema.message import Scope, Vector
from tests.engines.vectors_operations import EAST, NORTH, ids

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAGES = Fields(
    keywords=["page"],
    dates=["at"],
    numbers=["part"],
    dense=["text", "gist"],
    sparse=[SparseField("words"), SparseField("window", average_length=80)],
)
LONG = [f"word{number}" for number in range(60)]
CELLO, MEANT = SparseLeg("violoncello", "words"), DenseLeg(EAST, "text")


def entry(
    name: str,
    words: str = "hill",
    *,
    text: Vector | None = None,
    gist: Vector | None = None,
    window: str = "",
    **payload: str | int,
) -> Point:
    vectors = {"text": text, "gist": gist}
    return Point(
        name,
        {field: vector for field, vector in vectors.items() if vector is not None},
        {"words": words, "window": window or words},
        payload,
    )


def near(part: float) -> Vector:
    """The less, the nearer to EAST."""
    return Vector.of([1, part, 0, 0])


class QueryContract:
    def opened(
        self, directory: Path, dimensions: int, fields: Fields
    ) -> AbstractAsyncContextManager[VectorStore]:
        raise NotImplementedError

    @pytest.fixture
    async def pages(self, tmp_path: Path) -> AsyncGenerator[VectorStore]:
        async with self.opened(tmp_path, 4, PAGES) as store:
            yield store

    async def test_each_leg_searches_its_own_field(self, pages: VectorStore) -> None:
        crowd = [entry(f"crowd {n}", text=near(9), gist=near(9)) for n in range(9)]
        await pages.upsert(
            ANN,
            [
                *crowd,
                entry("by words", "a blue violoncello"),
                entry("by window", "blue", window="which violoncello? the blue one"),
                entry("by text", text=EAST),
                entry("by gist", gist=EAST),
            ],
        )

        async def first(leg: DenseLeg | SparseLeg) -> str:
            return ids(await pages.query(ANN, [leg], 1))[0]

        assert await first(CELLO) == "by words"
        assert await first(SparseLeg("violoncello", "window")) in {"by words", "by window"}
        assert ids(await pages.query(ANN, [CELLO], 9)) == ["by words"]
        assert await first(MEANT) == "by text"
        assert await first(DenseLeg(EAST, "gist")) == "by gist"

    async def test_without_vectors_the_words_still_search(self, pages: VectorStore) -> None:
        await pages.upsert(ANN, [entry("one", "a blue cello"), entry("other", "a red hill")])

        assert ids(await pages.query(ANN, [SparseLeg("cellos", "words")], 5)) == ["one"]
        assert ids(await pages.query(ANN, [SparseLeg("cellos", "words"), MEANT], 5)) == ["one"]
        assert await pages.query(ANN, [MEANT], 5) == []
        assert await pages.query(ANN, [SparseLeg("of the", "words")], 5) == []
        assert await pages.query(ANN, [], 5) == []

    @pytest.mark.parametrize("fusion", [Rrf(), MinMax()])
    async def test_the_weight_of_a_leg_decides(
        self, pages: VectorStore, fusion: Rrf | MinMax
    ) -> None:
        await pages.upsert(
            ANN,
            [
                entry("by words", "violoncello"),
                entry("by text", text=EAST),
            ],
        )

        async def first(words: float, text: float) -> str:
            legs = [
                SparseLeg("violoncello", "words", weight=words),
                DenseLeg(EAST, "text", weight=text),
            ]
            best, second = await pages.query(ANN, legs, 2, fusion=fusion)
            assert best.score > second.score
            return best.id

        assert await first(9, 1) == "by words"
        assert await first(1, 9) == "by text"

    async def test_min_max_adds_scores_and_not_ranks(self, pages: VectorStore) -> None:
        await pages.upsert(
            ANN,
            [
                entry("best", "hill", text=near(0)),
                entry("near", "violoncello", text=near(0.1)),
                entry("far", "river", text=near(9)),
            ],
        )
        hits = await pages.query(ANN, [CELLO, MEANT], 3, fusion=MinMax())

        assert ids(hits) == ["near", "best", "far"]
        assert hits[0].score == pytest.approx(2, abs=0.02)
        assert [hit.score for hit in hits[1:]] == pytest.approx([1, 0], abs=1e-5)
        assert [hit.similarity for hit in hits] == [None] * 3

    @pytest.mark.parametrize("fusion", [Rrf(), MinMax()])
    async def test_what_each_leg_gave_is_explained(
        self, pages: VectorStore, fusion: Rrf | MinMax
    ) -> None:
        await pages.upsert(
            ANN,
            [
                entry("both", "violoncello", text=near(1)),
                entry("meant", text=EAST),
                entry("words", "violoncello violoncello violoncello"),
            ],
        )
        again = SparseLeg("violoncello", "window", name="again")
        hits = await pages.query(ANN, [CELLO, MEANT, again], 5, fusion=fusion, explain=True)

        legs = {hit.id: {name: found.rank for name, found in hit.legs.items()} for hit in hits}
        assert legs == {
            "both": {"words": 2, "text": 2, "again": 2},
            "meant": {"text": 1},
            "words": {"words": 1, "again": 1},
        }
        meant = next(hit for hit in hits if hit.id == "meant")
        assert meant.legs["text"] == Found(1, pytest.approx(1))
        if isinstance(fusion, Rrf):
            silent = await pages.query(ANN, [CELLO, MEANT, again], 5)
            assert {hit.id: hit.score for hit in silent} == {hit.id: hit.score for hit in hits}
            assert [hit.legs for hit in silent] == [{}] * 3

    async def test_a_leg_finds_a_hundred_candidates_whatever_the_limit_is(
        self, pages: VectorStore
    ) -> None:
        """What is far down for each of two legs is the first of both."""
        await pages.upsert(
            ANN,
            [
                *(entry(f"text {n}", text=near(n / 100)) for n in range(50)),
                *(entry(f"words {n}", "violoncello") for n in range(50)),
                entry("both", "violoncello case strings bow", text=near(0.6)),
                entry("far", f"violoncello {' '.join(LONG)}", text=near(9)),
            ],
        )
        legs = [CELLO, MEANT]
        assert ids(await pages.query(ANN, legs, 1, fusion=MinMax())) == ["both"]
        few = await pages.query(ANN, legs, 1, fusion=MinMax(), candidates=10)
        assert ids(few) != ["both"]

    @pytest.mark.parametrize(
        ("where", "found"),
        [
            ([Equals("page", "p1")], "ab"),
            ([AnyOf("page", ["p1", "p3"])], "abd"),
            ([AnyOf("page", [])], ""),
            ([Equals("part", 2)], "b"),
            ([AnyOf("part", [1, 3])], "acd"),
            ([Range("part", 2)], "bcd"),
            ([Range("part", 1, 3)], "ab"),
            ([Range("at", NOON)], "bcd"),
            ([Range("at", below=NOON)], "a"),
            ([Range("at", NOON, NOON + timedelta(hours=1, microseconds=1))], "bc"),
            ([Range("at", NOON), AnyOf("page", ["p1", "p2"]), Range("part", below=3)], "b"),
        ],
    )
    async def test_conditions_bind_every_leg(
        self, pages: VectorStore, where: Where, found: str
    ) -> None:
        def at(hours: float) -> str:
            return (NOON + timedelta(hours=hours)).isoformat()

        entries = [
            entry("a", "violoncello", text=EAST, page="p1", part=1, at=at(-1)),
            entry("b", "violoncello", text=EAST, page="p1", part=2, at=at(0)),
            entry("c", "violoncello", text=EAST, page="p2", part=3, at=at(1)),
            entry("d", "violoncello", text=EAST, page="p3", part=3, at=at(1.5)),
        ]
        await pages.upsert(ANN, entries)
        await pages.upsert(BOB, entries)

        for legs in ([CELLO], [MEANT], [CELLO, MEANT]):
            assert set(ids(await pages.query(ANN, legs, 9, where))) == set(found)
        by_scores = await pages.query(ANN, [CELLO, MEANT], 9, where, fusion=MinMax())
        assert set(ids(by_scores)) == set(found)
        assert await pages.count(ANN, where) == len(found)
        (*_, hit) = await pages.get(ANN, ["d"])
        assert hit.payload == {"page": "p3", "part": 3, "at": at(1.5)}

    async def test_a_group_gives_its_best_and_the_answer_is_full(self, pages: VectorStore) -> None:
        crowd = [entry(f"long {n}", text=near(n / 100), page="long") for n in range(30)]
        others = [entry(f"other {n}", text=near(1 + n), page=f"p{n}") for n in range(4)]
        alone = [entry("alone 1", text=near(5)), entry("alone 2", text=near(6))]
        await pages.upsert(ANN, [*crowd, *others, *alone])

        one = await pages.query(ANN, [MEANT], 4, group=Group("page"))
        two = await pages.query(ANN, [MEANT], 99, group=Group("page", 2))

        assert ids(one) == ["long 0", "other 0", "other 1", "other 2"]
        assert ids(two)[:3] == ["long 0", "long 1", "other 0"]
        assert len(two) == 2 + 4 + 2

    async def test_what_cannot_be_asked_is_said(self, pages: VectorStore) -> None:
        short = Vector.of([1, 0])
        for legs, words in (
            ([CELLO, SparseLeg("other", "words")], "two legs have one name: words, words"),
            ([DenseLeg(EAST, "text", weight=0)], "weight"),
            ([DenseLeg(EAST, "words")], "no field words"),
            ([SparseLeg("x", "nowhere")], "no field nowhere"),
        ):
            with pytest.raises(ValueError, match=words):
                await pages.query(ANN, legs, 5)
        with pytest.raises(PermanentError, match="2 dimensions"):
            await pages.query(ANN, [DenseLeg(short, "text")], 5)
        with pytest.raises(ValueError, match="no field plot"):
            await pages.upsert(ANN, [Point("one", {"plot": EAST}, {})])
        assert await pages.count(ANN) == 0

    async def test_nobody_finds_what_others_have(self, pages: VectorStore) -> None:
        theirs = [entry(f"theirs {n}", "violoncello", text=EAST, page="p") for n in range(5)]
        await pages.upsert(BOB, theirs)
        await pages.upsert(ANN, [entry("mine", "violoncello", text=NORTH, page="p")])

        legs = [CELLO, MEANT, DenseLeg(EAST, "gist")]
        for fusion in (Rrf(), MinMax()):
            found = await pages.query(
                ANN, legs, 9, fusion=fusion, group=Group("page", 9), explain=True
            )
            assert ids(found) == ["mine"]
        before = await pages.query(ANN, [CELLO], 9)
        await pages.delete_scope(BOB)
        assert await pages.query(ANN, [CELLO], 9) == before

    async def test_fields_that_are_set_are_searched_and_what_they_had_is_not(
        self, pages: VectorStore
    ) -> None:
        await pages.upsert(ANN, [entry("one", "violoncello", text=EAST, page="p"), entry("two")])
        await pages.upsert(BOB, [entry("one", "violoncello")])

        await pages.set_fields(
            ANN,
            [
                Point("one", {}, {"words": "a zeppelin"}, {"page": "ignored"}),
                Point("two", {"gist": NORTH}, {"window": "zeppelin"}),
                Point("three", {}, {"words": "zeppelin"}),
            ],
        )

        assert ids(await pages.query(ANN, [SparseLeg("zeppelin", "words")], 5)) == ["one"]
        assert ids(await pages.query(ANN, [SparseLeg("zeppelin", "window")], 5)) == ["two"]
        assert await pages.query(ANN, [CELLO], 5) == []
        assert ids(await pages.query(ANN, [SparseLeg("violoncello", "window")], 5)) == ["one"]
        (hit,) = await pages.query(ANN, [MEANT], 5)
        assert (hit.id, hit.payload, hit.similarity) == ("one", {"page": "p"}, pytest.approx(1))
        (hit,) = await pages.query(ANN, [DenseLeg(NORTH, "gist")], 5)
        assert (hit.id, hit.similarity) == ("two", pytest.approx(1))
        assert ids(await pages.query(BOB, [CELLO], 5)) == ["one"]
        await pages.set_fields(ANN, [Point("one", {}, {"words": ""})])
        assert await pages.query(ANN, [SparseLeg("zeppelin", "words")], 5) == []
        with pytest.raises(ValueError, match="no field plot"):
            await pages.set_fields(ANN, [Point("one", {}, {"plot": "x"})])
        await pages.set_fields(ANN, [])
