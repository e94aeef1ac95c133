"""Contradictions that a model detects: whatever the order of arrival, the newer fact stands."""

import itertools
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fourtier.memory.facts.detector import Detector
from fourtier.memory.facts.graph import ScopedFact
from fourtier.memory.facts.store import FactStore, Stored
from fourtier.models.contradictions.client import Pair
from tests.memory.facts.stores import ANN, BOB, Opened, at, opened, said

KEMAL = "Kemal does the deliveries to the hotels"
FEMKE = "Femke drives to the hotels, he has done his back in"
NADIA = "It is Nadia who goes to the hotels, as Femke is on parental leave"
OFTEN = "The hotels mostly get their bread from Uwe's van now"
OTHER = "The rye loaf is 4.20 at our place"


@dataclass
class Model:
    """Knows that three cannot hold at once, and doubts it of two; notes what it is asked."""

    asked: list[Pair] = field(default_factory=list)
    others: dict[frozenset[str], float] = field(default_factory=dict)
    broken: bool = False

    async def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        if self.broken:
            raise ConnectionError(f"asked of {len(pairs)} pairs, the embeddings service is away")
        self.asked += pairs
        return [self._probability({*pair}) for pair in pairs]

    def _probability(self, pair: set[str]) -> float:
        if pair <= {KEMAL, FEMKE, NADIA}:
            return 0.99
        return 0.8 if pair == {KEMAL, OFTEN} else self.others.get(frozenset(pair), 0.6)


@dataclass
class Detecting:
    """A fact store that detects, and the model by which it does."""

    opened: Opened
    facts: FactStore
    model: Model

    async def say(self, content: str, hours: int, **fields: str) -> str:
        (stored,) = await self.store([said(content, hours, **fields)])
        return stored.id

    async def store(self, stated: Sequence[ScopedFact]) -> list[Stored]:
        """Store, and compare as the service does beside the writes."""
        stored = await self.facts.store(stated)
        await self.compare()
        return stored

    async def compare(self) -> None:
        """Compare what waits for it."""
        await self.facts.compare(await self.facts.uncompared(100))

    async def valid(self) -> list[str]:
        facts, _ = await self.facts.page(ANN, 20, 0, superseded=False)
        return [fact.content for fact in facts]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Detecting]:
    async with opened(tmp_path) as store:
        yield detecting(store)


def detecting(store: Opened, min_similarity: float = -1.0) -> Detecting:
    """The vectors of these tests tell nothing of meaning: all are similar enough."""
    model = Model()
    detector = Detector(model, min_similarity=min_similarity)
    facts = FactStore(store.graph, store.vectors, store.embedder, detector=detector)
    return Detecting(store, facts, model)


async def test_the_newer_of_two_that_contradict_stands(store: Detecting) -> None:
    old = await store.say(KEMAL, 1)
    await store.say(OTHER, 2)
    new = await store.say(FEMKE, 3)

    assert await store.valid() == [FEMKE, OTHER]
    fact = await store.facts.get(ANN, old)
    assert fact is not None
    assert (fact.superseded_by, fact.valid_until) == (new, said(FEMKE, 3).fact.stated_at)


async def test_no_write_waits_for_the_model(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    await store.facts.store([said(FEMKE, 2)])
    assert store.model.asked == []
    await store.compare()
    assert await store.valid() == [FEMKE]
    assert await store.facts.uncompared(10) == {}


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
async def test_any_order_and_any_batches_end_the_same(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    said_so = [said(KEMAL, 1), said(FEMKE, 2), said(NADIA, 3), said(OTHER, 4)]
    async with opened(tmp_path) as opened_store:
        store = detecting(opened_store)
        for batch in (order[:2], order[2:], order):
            await store.store([said_so[number] for number in batch])
        facts, _ = await store.facts.page(ANN, 20, 0, superseded=True)
    femke, nadia = said_so[1].fact, said_so[2].fact
    assert [(fact.content, fact.valid_until, fact.superseded_by) for fact in facts] == [
        (OTHER, "", ""),
        (NADIA, "", ""),
        (FEMKE, nadia.stated_at, nadia.id),
        (KEMAL, femke.stated_at, femke.id),
    ]


async def test_what_is_said_again_after_it_was_contradicted_stands_again(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    await store.say(FEMKE, 2)
    await store.say(KEMAL, 3)
    assert await store.valid() == [KEMAL]


async def test_what_is_said_again_beside_what_contradicts_it_loses_no_statement(
    store: Detecting,
) -> None:
    await store.say(KEMAL, 1)
    await store.store([said(FEMKE, 2), said(KEMAL, 3)])
    facts, _ = await store.facts.page(ANN, 20, 0, superseded=True)
    kemal, femke = (next(each for each in facts if each.content == one) for one in (KEMAL, FEMKE))
    assert (kemal.valid, femke.valid) == (True, False)
    assert len(kemal.to_fact().earlier) == 1


@pytest.mark.parametrize(("speaker", "compared"), [("", True), (ANN.user, True), ("Ida", False)])
async def test_only_what_the_user_says_is_compared(
    store: Detecting, speaker: str, compared: bool
) -> None:
    await store.say(KEMAL, 1, speaker=speaker)
    await store.say(FEMKE, 2, speaker=speaker)
    assert bool(store.model.asked) == compared


async def test_the_model_is_not_asked_about_small_talk(store: Detecting) -> None:
    await store.say("Sounds great, Kemal.", 1)
    await store.say("That's sweet now, Kemal!", 2)
    assert store.model.asked == []


async def test_nothing_of_another_scope_or_speaker_is_compared(store: Detecting) -> None:
    await store.say(KEMAL, 1, speaker="Ida")
    await store.store([said(KEMAL, 1, BOB)])
    await store.say(FEMKE, 2)
    assert store.model.asked == []
    assert await store.valid() == [FEMKE, KEMAL]


async def test_of_those_said_in_one_message_none_supersedes_another(store: Detecting) -> None:
    await store.store([said(KEMAL, 1), said(FEMKE, 1)])
    assert {*await store.valid()} == {KEMAL, FEMKE}


async def test_when_the_newer_one_is_forgotten_the_older_one_is_valid_again(
    store: Detecting,
) -> None:
    await store.say(KEMAL, 1)
    new = await store.say(FEMKE, 2)
    assert await store.facts.forget(ANN, new, at(3))
    assert await store.valid() == [KEMAL]


async def test_what_is_known_is_not_compared_again(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    await store.say(FEMKE, 2)
    asked = len(store.model.asked)
    await store.say(FEMKE, 4)
    assert len(store.model.asked) == asked


async def test_only_what_is_similar_is_compared(tmp_path: Path) -> None:
    async with opened(tmp_path) as opened_store:
        store = detecting(opened_store, min_similarity=0.999)
        await store.store([said(KEMAL, 1), said(OTHER, 2)])
        await store.say(FEMKE, 3)
        assert store.model.asked == []


async def test_long_statements_are_not_compared(store: Detecting) -> None:
    await store.say(KEMAL + " and more" * 60, 1)
    await store.say(FEMKE + " and more" * 60, 2)
    assert store.model.asked == []
    assert len(await store.valid()) == 2


async def test_when_the_model_fails_all_is_stored_and_compared_later(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    await store.facts.store([said(FEMKE, 2)])
    store.model.broken = True
    with pytest.raises(ConnectionError):
        await store.compare()
    assert await store.valid() == [FEMKE, KEMAL]

    store.model.broken = False
    await store.compare()
    assert await store.valid() == [FEMKE]


async def test_a_fact_that_is_forgotten_before_it_is_compared_stays_away(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    (new,) = await store.facts.store([said(FEMKE, 2)])
    waiting = await store.facts.uncompared(10)
    await store.facts.forget(ANN, new.id, at(3))
    await store.facts.compare(waiting)
    assert await store.valid() == [KEMAL]


async def test_forgetting_the_scope_leaves_nothing_of_what_was_detected(store: Detecting) -> None:
    await store.say(KEMAL, 1)
    await store.say(FEMKE, 2)
    await store.facts.forget_scope(ANN, at(3))
    assert await store.opened.nodes() <= 1  # the scope's version


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_in_doubt_both_are_valid_and_each_names_the_other(
    store: Detecting, order: tuple[int, int]
) -> None:
    both = [said(KEMAL, 1), said(OFTEN, 2)]
    for number in order:
        await store.store([both[number]])
    kemal, often = (each.fact.id for each in both)

    facts, _ = await store.facts.page(ANN, 20, 0, superseded=False)
    assert {fact.id: fact.conflicts for fact in facts} == {kemal: (often,), often: (kemal,)}
    found = await store.facts.search(ANN, KEMAL, None, 5, superseded=False)
    assert [fact.content for fact, _ in found] == [OFTEN, KEMAL]


async def test_what_is_not_valid_any_more_is_no_possible_conflict(store: Detecting) -> None:
    kemal = await store.say(KEMAL, 1)
    often = await store.say(OFTEN, 2)
    await store.say(FEMKE, 3)

    for name in (kemal, often):
        fact = await store.facts.get(ANN, name)
        assert fact is not None
        assert fact.to_fact().possible_conflicts == ()


async def test_a_forgotten_fact_is_no_possible_conflict(store: Detecting) -> None:
    kemal = await store.say(KEMAL, 1)
    often = await store.say(OFTEN, 2)
    await store.facts.forget(ANN, kemal, at(3))
    fact = await store.facts.get(ANN, often)
    assert fact is not None
    assert fact.to_fact().possible_conflicts == ()


TICKET, SIBLING = "Ticket 8830 is assigned to Ravi", "Ticket 8831 is assigned to Ravi as well"
AGAIN = "Ticket 8830 is with Ravi"
TAKEN = "Ravi is off sick, so Malte is taking ticket 8830"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_of_siblings_only_that_one_is_over_that_is_contradicted_most(
    store: Detecting, order: tuple[int, ...]
) -> None:
    store.model.others = {frozenset({TICKET, TAKEN}): 0.99, frozenset({SIBLING, TAKEN}): 0.97}
    three = [said(TICKET, 1), said(SIBLING, 2), said(TAKEN, 3)]
    for number in order:
        await store.store([three[number]])
    assert await store.valid() == [TAKEN, SIBLING]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_what_was_another_value_of_the_same_is_over_too(
    store: Detecting, order: tuple[int, ...]
) -> None:
    store.model.others = {
        frozenset({TICKET, TAKEN}): 0.99,
        frozenset({AGAIN, TAKEN}): 0.97,
        frozenset({AGAIN, TICKET}): 0.8,
    }
    three = [said(TICKET, 1), said(AGAIN, 2), said(TAKEN, 3)]
    for number in order:
        await store.store([three[number]])
    assert await store.valid() == [TAKEN]


async def test_what_has_happened_is_not_over_whatever_the_model_says(store: Detecting) -> None:
    third, fourth = "I planted tree number 3 behind house 21", "I planted tree number 4 there"
    store.model.others = {frozenset({third, fourth}): 0.99}
    await store.say(third, 1)
    await store.say(fourth, 2)
    assert await store.valid() == [fourth, third]
