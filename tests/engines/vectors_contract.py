"""What every vector store does: inherit the class and say how yours is opened."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourtier.runtime.errors import PermanentError
from fourtier.runtime.service.stores.query import DenseLeg, Equals
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import Point, VectorStore
from fourtier.schema.message import Scope, Vector
from tests.engines.facet_contract import FacetContract
from tests.engines.query_contract import QueryContract
from tests.engines.searching import search, similar
from tests.engines.vectors_operations import (
    ALIKE,
    EAST,
    NORTH,
    OPERATIONS,
    Model,
    ids,
    scrolled,
)

DIMENSIONS = 4
KIND = Fields(["kind"])
ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


def point(name: str, vector: Vector = EAST, text: str = "", **payload: str) -> Point:
    return Point.of(name, vector, text or name, payload)


class VectorStoreContract(QueryContract, FacetContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, fields: Fields = KIND
    ) -> AbstractAsyncContextManager[VectorStore]:
        """A store with its points in `directory`, or for as long as the test runs."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncGenerator[VectorStore]:
        async with self.opened(tmp_path) as store:
            yield store

    async def test_the_same_id_again_replaces_the_point(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point("one", EAST, "a blue cello", kind="old", more="x")])
        await store.upsert(ANN, [point("one", NORTH, "a red violin", kind="new")])

        assert await store.count(ANN) == 1
        (hit,) = await store.get(ANN, ["one"])
        assert hit.payload == {"kind": "new"}
        assert (await similar(store, ANN, NORTH, 1))[0].similarity == pytest.approx(1)

    async def test_a_replaced_text_is_not_found_by_its_old_words(self, store: VectorStore) -> None:
        others = [point(f"other {n}", Vector.of([1, n / 100, 0, 0]), "hill") for n in range(20)]
        await store.upsert(ANN, [*others, point("one", NORTH, "a blue cello")])
        assert "one" in ids(await search(store, ANN, EAST, "cello", 3))

        await store.upsert(ANN, [point("one", NORTH, "the of and")])

        assert "one" not in ids(await search(store, ANN, EAST, "cello", 3))

    async def test_the_last_of_one_id_in_a_batch_counts(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point("one", kind="first"), point("one", kind="last")])

        assert [hit.payload for hit in await store.get(ANN, ["one"])] == [{"kind": "last"}]

    async def test_words_find_what_meaning_misses_and_the_other_way_round(
        self, store: VectorStore
    ) -> None:
        crowd = [point(f"crowd {n}", Vector.of([1, n / 100, 0, 0]), "hill") for n in range(2, 40)]
        await store.upsert(
            ANN,
            [
                *crowd,
                point("by words", Vector.of([-1, 0, 0, 0]), "her violoncello is blue"),
                point("by meaning", EAST, "unrelated"),
            ],
        )

        both = await search(store, ANN, EAST, "Which violoncello?", 2)
        meaning_alone = await similar(store, ANN, EAST, 2)

        assert set(ids(both)) == {"by words", "by meaning"}
        assert ids(meaning_alone) == ["by meaning", "crowd 2"]
        assert both[0].score >= both[1].score > 0

    async def test_words_are_found_in_another_form(self, store: VectorStore) -> None:
        crowd = [point(f"crowd {n}", Vector.of([1, n / 100, 0, 0]), "hill") for n in range(2, 40)]
        await store.upsert(ANN, [*crowd, point("one", NORTH, "he is TRAVELLING with two dogs")])

        assert "one" in ids(await search(store, ANN, EAST, "a traveller's dog", 2))

    async def test_similarity_is_the_cosine(self, store: VectorStore) -> None:
        await store.upsert(
            ANN,
            [
                point("same", Vector.of([2, 0, 0, 0])),
                point("half", Vector.of([1, 3**0.5, 0, 0])),
                point("opposite", Vector.of([-5, 0, 0, 0])),
            ],
        )

        hits = await similar(store, ANN, EAST, 10)

        assert ids(hits) == ["same", "half", "opposite"]
        assert [hit.similarity for hit in hits] == pytest.approx([1, 0.5, -1], abs=1e-5)

    async def test_filters_bind_every_search(self, store: VectorStore) -> None:
        await store.upsert(
            ANN,
            [
                point("found", text="cello", kind="yes", more="1"),
                point("dropped", text="cello", kind="no", more="1"),
                point("bare", text="cello"),
            ],
        )

        assert ids(await search(store, ANN, EAST, "cello", 5, kind="yes")) == ["found"]
        assert ids(await similar(store, ANN, EAST, 5, kind="no")) == ["dropped"]
        assert await store.count(ANN, [Equals("kind", "yes")]) == 1
        assert await store.count(ANN, [Equals("more", "1")]) == 2, (
            "a field without an index works too"
        )
        assert await store.count(ANN, [Equals("kind", "no"), Equals("more", "2")]) == 0
        assert await store.count(None, [Equals("kind", "yes")]) == 1

    async def test_limit_bounds_every_answer(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point(f"p{n}", text="cello") for n in range(7)])

        assert len(await search(store, ANN, EAST, "cello", 3)) == 3
        assert len(await similar(store, ANN, EAST, 3)) == 3
        assert len(await store.scroll(ANN, 3)) == 3
        assert len(await search(store, ANN, EAST, "cello", 50)) == 7

    async def test_texts_without_a_content_word(self, store: VectorStore) -> None:
        await store.upsert(ANN, [Point.of("empty", EAST, ""), point("stop", EAST, "the of and")])

        assert set(ids(await search(store, ANN, EAST, "", 5))) == {"empty", "stop"}
        assert set(ids(await search(store, ANN, EAST, "and the", 5))) == {"empty", "stop"}
        assert len(await store.get(ANN, ["empty", "stop"])) == 2

    async def test_unicode_everywhere(self, store: VectorStore) -> None:
        scope = Scope("Ünïcode 🦊", "コレクション")
        crowd = [point(f"crowd {n}", Vector.of([1, n / 100, 0, 0]), "hill") for n in range(2, 40)]
        await store.upsert(scope, [*crowd, point("ключ-鍵", NORTH, "Fjällräven Kånken", kind="新")])

        assert "ключ-鍵" in ids(await search(store, scope, EAST, "kånken", 3))
        (hit,) = await store.get(scope, ["ключ-鍵"])
        assert hit.payload == {"kind": "新"}
        assert await store.count(scope, [Equals("kind", "新")]) == 1
        assert await store.delete(scope, ["ключ-鍵"]) == 1

    async def test_nothing_there_and_nothing_asked(self, store: VectorStore) -> None:
        await store.upsert(ANN, [])

        assert await store.get(ANN, []) == []
        assert await store.get(ANN, ["unknown"]) == []
        assert await search(store, ANN, EAST, "cello", 5) == []
        assert await similar(store, ANN, EAST, 5) == []
        assert await store.scroll(ANN, 5) == []
        assert await store.count(ANN) == 0
        assert await store.delete(ANN, []) == 0
        assert await store.delete(ANN, ["unknown"]) == 0
        assert await store.delete_scope(ANN) == 0

    async def test_get_answers_in_the_order_asked_for(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point(name) for name in "abcdef"])

        hits = await store.get(ANN, ["e", "missing", "a", "f", "a"])

        assert ids(hits) == ["e", "a", "f"]
        assert {hit.score for hit in hits} == {0}

    async def test_delete_says_how_many_there_were(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point(name, text="cello") for name in "abcde"])
        await store.upsert(BOB, [point(name, text="cello") for name in "abc"])

        assert await store.delete(ANN, ["a", "b", "b", "missing"]) == 2
        assert await store.delete(ANN, ["a"]) == 0
        assert set(ids(await search(store, ANN, EAST, "cello", 9))) == set("cde")
        assert await store.delete_scope(ANN) == 3
        assert await store.delete_scope(ANN) == 0
        assert await store.count(ANN) == 0
        assert await store.count(BOB) == await store.count(None) == 3

    async def test_erasing_leaves_what_was_not_deleted(self, store: VectorStore) -> None:
        await store.upsert(ANN, [point("stays", text="cello", kind="x"), point("gone")])
        await store.upsert(BOB, [point("theirs", text="cello")])
        await store.delete(ANN, ["gone"])
        before = await search(store, ANN, EAST, "cello", 5, kind="x")
        assert ids(before) == ["stays"]

        for remainder in await store.erase():
            assert remainder.where
            assert remainder.until

        assert await search(store, ANN, EAST, "cello", 5, kind="x") == before
        assert await store.get(ANN, ["gone"]) == []
        assert await store.count(None) == 2
        await store.upsert(ANN, [point("later")])
        assert await store.count(ANN) == 2

    @pytest.mark.parametrize("page", [1, 3, 7, 100])
    async def test_scroll_reads_everything_exactly_once(
        self, store: VectorStore, page: int
    ) -> None:
        await store.upsert(ANN, [point(f"p{n}") for n in range(21)])
        await store.upsert(BOB, [point(f"p{n}") for n in range(5)])

        found = await scrolled(store, ANN, page)

        assert len(found) == 21
        assert set(found) == {f"p{n}" for n in range(21)}

    async def test_scroll_goes_on_behind_a_point_deleted_meanwhile(
        self, store: VectorStore
    ) -> None:
        await store.upsert(ANN, [point(f"p{n}") for n in range(10)])
        first = ids(await store.scroll(ANN, 4))
        await store.delete(ANN, first)

        rest = ids(await store.scroll(ANN, 100, first[-1]))

        assert len(rest) == 6
        assert not set(rest) & set(first)

    async def test_a_vector_that_does_not_fit_fails_permanently_and_nothing_is_written(
        self, store: VectorStore
    ) -> None:
        await store.upsert(ANN, [point("good")])
        short, not_a_number = Vector.of([1, 0, 0]), Vector.of([float("nan")] * DIMENSIONS)

        for vector, words in ((short, "3 dimensions"), (not_a_number, "finite")):
            with pytest.raises(PermanentError, match=words):
                await store.upsert(ANN, [point("new"), point("bad", vector)])
            with pytest.raises(PermanentError, match=words):
                await search(store, ANN, vector, "cello", 5)
            with pytest.raises(PermanentError, match=words):
                await similar(store, ANN, vector, 5)

        assert ids(await similar(store, ANN, EAST, 5)) == ["good"]

    async def test_a_payload_cannot_name_another_scope(self, store: VectorStore) -> None:
        with pytest.raises(ValueError, match="scope"):
            await store.upsert(ANN, [point("one", scope=BOB.key)])

        await store.upsert(BOB, [point("theirs")])
        assert await store.query(ANN, [DenseLeg(EAST)], 5, [Equals("scope", BOB.key)]) == []

    async def test_another_users_words_change_no_score(self, store: VectorStore) -> None:
        mine = [
            point("rare", Vector.of([1, 0.1, 0, 0]), "zebra"),
            point("common 1", Vector.of([1, 0.2, 0, 0]), "river"),
            point("common 2", Vector.of([1, 0.3, 0, 0]), "river bank"),
        ]
        await store.upsert(ANN, mine)
        before = await search(store, ANN, EAST, "zebra river", 3)

        await store.upsert(BOB, [point(f"b{n}", text="zebra") for n in range(50)])

        assert await search(store, ANN, EAST, "zebra river", 3) == before

    async def test_scopes_with_like_names_stay_apart(self, store: VectorStore) -> None:
        for number, scope in enumerate(ALIKE):
            await store.upsert(scope, [point("one", kind=str(number))])

        for number, scope in enumerate(ALIKE):
            assert [hit.payload for hit in await store.get(scope, ["one"])] == [
                {"kind": str(number)}
            ]
        assert await store.count(None) == len(ALIKE)
        assert await store.delete_scope(ALIKE[0]) == 1
        assert await store.count(None) == len(ALIKE) - 1

    # Each store inherits this test, which hypothesis would take for a mistake.
    @settings(
        max_examples=30,
        suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    )
    @given(st.data())
    async def test_no_operation_reaches_another_scope(self, data: st.DataObject) -> None:
        operations = data.draw(st.lists(OPERATIONS, min_size=1, max_size=12))
        with tempfile.TemporaryDirectory() as directory:
            async with self.opened(Path(directory)) as store:
                model = Model()
                for operation in operations:
                    await operation.run(store, model)
                    await model.check(store)
