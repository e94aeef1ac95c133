"""Statements end in one state, whatever their order, their batches and their repetitions."""

import asyncio
import tempfile
from collections.abc import Coroutine, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourtier.memory.facts.graph import ScopedFact
from fourtier.runtime.service.stores.graph import Statement
from tests.memory.facts.stores import ANN, BOB, Opened, opened, said

T = TypeVar("T")

#: Statements that agree, contradict, say more, name less, and are of nothing in particular.
CONTENTS = (
    "My Hawaii budget is 10,000 dollars",
    "my hawaii budget is 10,000 dollars.",
    "My budget for the Hawaii trip is 11,000 dollars",
    "My Hawaii budget is now 12,000 dollars",
    "I raised my Hawaii budget to 13,000 dollars",
    "My Hawaii flight budget is 2,000 dollars",
    "My budget is 500 dollars",
    "I live in Oslo",
    "i live in oslo",
    "I moved to Bergen",
    "I live in Rome with my wife",
    "I like tea",
)
EXPLICIT = ((), ("user", "home"), ("user", "Hawaii budget"), ("ann", "home"))


@st.composite
def statements(draw: st.DrawFn) -> ScopedFact:
    """A statement as it may come in, with times of which some are the same."""
    explicit = draw(st.sampled_from(EXPLICIT))
    named = dict(zip(("subject", "attribute"), explicit, strict=False))
    return said(
        draw(st.sampled_from(CONTENTS)),
        draw(st.integers(1, 6)),
        draw(st.sampled_from((ANN, BOB))),
        source=draw(st.sampled_from(("c1", "c2"))),
        speaker=draw(st.sampled_from(("", "ann", "Tom"))),
        **named,
    )


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[ScopedFact], list[list[ScopedFact]]]:
    """Statements, and the same ones in another order, in batches, some of them twice."""
    stated = draw(st.lists(statements(), min_size=1, max_size=9))
    repeated = stated + draw(st.lists(st.sampled_from(stated), max_size=4))
    shuffled = draw(st.permutations(repeated))
    cuts = sorted(draw(st.sets(st.integers(1, len(shuffled)))) | {len(shuffled)})
    starts = [0, *cuts[:-1]]
    return stated, [shuffled[start:end] for start, end in zip(starts, cuts, strict=True)]


class Runner:
    """One store, opened once, on a loop of its own: hypothesis knows no coroutines."""

    def __init__(self, directory: Path) -> None:
        self._loop = asyncio.Runner()
        self._opening = opened(directory)
        self.store: Opened = self.run(self._opening.__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine."""
        return self._loop.run(work)

    def close(self) -> None:
        """Close the store and the loop."""
        self.run(self._opening.__aexit__(None, None, None))
        self._loop.close()


@pytest.fixture(scope="module")
def runner() -> Generator[Runner]:
    with tempfile.TemporaryDirectory() as directory:
        runner = Runner(Path(directory))
        yield runner
        runner.close()


async def state_after(store: Opened, batches: Sequence[Sequence[ScopedFact]]) -> list[Any]:
    """What can be seen of both scopes when these batches are all that ever came."""
    for scope in (ANN, BOB):
        await store.facts.forget_scope(scope)
    await store.graph.write(None, Statement("MATCH (t:FactTombstone) DETACH DELETE t"))
    for batch in batches:
        await store.facts.store(batch)
    return await state(store)


async def state(store: Opened) -> list[Any]:
    """All that can be seen of both scopes, in the graph and in the vectors."""
    seen: list[Any] = []
    for scope in (ANN, BOB):
        facts, total = await store.facts.page(scope, 100, 0, superseded=True)
        hits = await store.vectors.scroll(scope, 100)
        seen += [total, facts, sorted((hit.id, sorted(hit.payload.items())) for hit in hits)]
        seen.append(sorted(await store.found("budget", scope)))
    return seen


@given(deliveries())
@settings(max_examples=30)
def test_order_batches_and_repetition_change_nothing(
    runner: Runner, delivered: tuple[list[ScopedFact], list[list[ScopedFact]]]
) -> None:
    stated, batches = delivered
    at_once = runner.run(state_after(runner.store, [stated]))
    assert runner.run(state_after(runner.store, batches)) == at_once
    assert runner.run(state_after(runner.store, [*batches, *batches])) == at_once


@given(st.lists(statements(), min_size=2, max_size=7), st.data())
@settings(max_examples=20)
def test_what_is_forgotten_might_never_have_been_said(
    runner: Runner, stated: list[ScopedFact], data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(stated))
    rest = [each for each in stated if each.fact.id != gone.fact.id]

    async def with_forget() -> list[Any]:
        await state_after(runner.store, [stated])
        assert await runner.store.facts.forget(gone.scope, gone.fact.id)
        return await state(runner.store)

    expected = runner.run(state_after(runner.store, [rest] if rest else []))
    assert runner.run(with_forget()) == expected
