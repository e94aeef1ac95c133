"""Contradictions from end to end: the services facts and embeddings, with the bundled model."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.facts.detection import Detection
from fourtier.memory.facts.detector import MIN_PROBABILITY, MIN_SIMILARITY
from fourtier.models.contradictions.lazy import LazyCrossEncoder
from fourtier.runtime.errors import CallFailedError, StartupError
from fourtier.schema.embeddings import (
    DETECT_CONTRADICTIONS,
    EMBED,
    DetectContradictionsRequest,
    StatementPair,
)
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.support.environment import short_deadline
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "Kemal does the deliveries.",
    "Kemal has done his back in, so Femke does the deliveries.",
    "The rye loaf is 4.20 at our place.",
)


async def say(flow: RunningFlow) -> None:
    """Say the three, a day after each other."""
    for number, content in enumerate(SAID):
        at = START + timedelta(days=number)
        await flow.caller.call(
            STORE_FACT, StoreFactRequest(user="ann", content=content, timestamp=at)
        )


async def valid(flow: RunningFlow) -> set[str]:
    """List what is valid."""
    listed = await flow.caller.call(LIST_FACTS, ListFactsRequest(user="ann"))
    return {fact.content for fact in listed.facts}


async def test_the_older_of_two_that_contradict_is_superseded(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"facts": {}, "embeddings": {}}) as flow:
        await say(flow)

        async def superseded() -> bool:
            return await valid(flow) == {*SAID[1:]}

        await wait_until(superseded)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"detect-contradictions": False}, []),
        ({"contradiction-similarity": 1.0}, [(1.0, MIN_PROBABILITY)]),
        ({"contradiction-probability": 1.0}, [(MIN_SIMILARITY, 1.0)]),
    ],
)
async def test_a_flow_says_what_is_compared_and_believed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parameters: Mapping[str, Any],
    expected: list[tuple[float, float]],
) -> None:
    used: list[tuple[float, float]] = []
    find = Detection.find

    async def watched(self: Detection, new: Any) -> Any:
        if self._detector is not None:
            used.append((self._detector.min_similarity, self._detector.min_probability))
        return await find(self, new)

    monkeypatch.setattr(Detection, "find", watched)
    async with running_flow(tmp_path, {"facts": parameters, "embeddings": {}}) as flow:
        await say(flow)
        await wait_until(lambda: used[:1] == expected)
        assert await valid(flow) == {*SAID}


async def test_facts_are_stored_while_the_model_is_away_and_compared_after_a_restart(
    tmp_path: Path,
) -> None:
    def broken(*_: Any) -> list[float]:
        raise StartupError("the bundled model has another digest")

    services: dict[str, Any] = {"facts": {}, "embeddings": {}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazyCrossEncoder, "__call__", broken)
        async with running_flow(tmp_path, services) as flow:
            await say(flow)
            assert await valid(flow) == {*SAID}
    # The first question may come before `embeddings` is up; then it is sent again.
    with short_deadline(EMBED, 2.0):
        async with running_flow(tmp_path, services) as flow:

            async def superseded() -> bool:
                return await valid(flow) == {*SAID[1:]}

            await wait_until(superseded)


async def test_facts_are_compared_once_the_model_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, failures = LazyCrossEncoder.__call__, 0

    def failing_once(self: LazyCrossEncoder, *given: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures == 1:
            raise StartupError("the bundled model has another digest")
        return compare(self, *given)

    monkeypatch.setattr("fourtier.memory.facts.comparisons._PAUSE", 0.01)
    monkeypatch.setattr(LazyCrossEncoder, "__call__", failing_once)
    async with running_flow(tmp_path, {"facts": {}, "embeddings": {}}) as flow:
        await say(flow)

        async def superseded() -> bool:
            return await valid(flow) == {*SAID[1:]}

        await wait_until(superseded)
    assert failures > 1


async def test_pairs_are_answered_in_their_order(tmp_path: Path) -> None:
    over = StatementPair(older=SAID[0], newer=SAID[1])
    holds = StatementPair(older=SAID[0], newer=SAID[2])
    async with running_flow(tmp_path, {"embeddings": {}}) as flow:
        request = DetectContradictionsRequest(pairs=(over, holds, over))
        answered = await flow.caller.call(DETECT_CONTRADICTIONS, request)
        first, second, third = answered.probabilities
        assert first == third > 0.9
        assert second < 0.5
        flow.bus.local = None  # what is handed over within a process is not read again
        with pytest.raises(CallFailedError, match="pairs"):
            await flow.caller.call(
                DETECT_CONTRADICTIONS,
                DetectContradictionsRequest.model_construct(pairs=()),
            )
