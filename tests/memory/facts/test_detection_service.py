"""Contradictions from end to end: the services facts and embeddings, with the bundled model."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.errors import CallFailedError
from fourtier.schema.embeddings import (
    DETECT_CONTRADICTIONS,
    DetectContradictionsRequest,
    StatementPair,
)
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.support.flow import RunningFlow, running_flow

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "Kemal does the deliveries.",
    "Kemal has done his back in, so Femke does the deliveries.",
    "The rye loaf is 4.20 at our place.",
)


async def valid(flow: RunningFlow) -> set[str]:
    """Say the three, and list what is valid."""
    for number, content in enumerate(SAID):
        at = START + timedelta(days=number)
        await flow.caller.call(
            STORE_FACT, StoreFactRequest(user="ann", content=content, timestamp=at)
        )
    listed = await flow.caller.call(LIST_FACTS, ListFactsRequest(user="ann"))
    return {fact.content for fact in listed.facts}


@pytest.mark.parametrize(
    ("parameters", "left"),
    [
        ({}, {*SAID[1:]}),
        ({"detect-contradictions": False}, {*SAID}),
        ({"contradiction-similarity": 1.0}, {*SAID}),
        ({"contradiction-probability": 1.0}, {*SAID}),
    ],
)
async def test_the_older_of_two_that_contradict_is_superseded_unless_a_flow_wants_otherwise(
    tmp_path: Path, parameters: Mapping[str, Any], left: set[str]
) -> None:
    async with running_flow(tmp_path, {"facts": parameters, "embeddings": {}}) as flow:
        assert await valid(flow) == left


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
