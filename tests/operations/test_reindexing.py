"""Reindexing from outside: part after part, and again where a part has no answer."""

from collections.abc import Generator

import pytest
import stamina

from fourtier.client import client_on
from fourtier.operations.reindexing import ReindexResult, reindex_facts
from fourtier.runtime.bus.contract import BusError, RejectedByBusError
from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.facts import REINDEX_FACTS, ReindexFactsRequest, ReindexFactsResponse
from tests.runtime.rpc.support import FailingBus, served

TOPIC = REINDEX_FACTS.topic.name
#: The cursor that asks for a part, and the part.
PARTS = {
    "": ReindexFactsResponse(indexed=2, removed=0, cursor="ann", facts=5, points=9),
    "ann": ReindexFactsResponse(indexed=3, removed=1, cursor="", facts=5, points=6),
}


async def part(request: ReindexFactsRequest) -> ReindexFactsResponse:
    return PARTS[request.cursor]


@pytest.fixture(autouse=True)
def without_pauses() -> Generator[None]:
    """Retries follow at once; their number stays."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


async def test_a_part_that_the_bus_does_not_take_is_asked_for_again() -> None:
    bus, seen = FailingBus(), list[int]()
    bus.fails[TOPIC] = 2
    async with served(bus, call_route(REINDEX_FACTS, part)), client_on(bus) as client:
        result = await reindex_facts(client, lambda now: seen.append(now.indexed))
    assert result == ReindexResult(indexed=5, removed=1, facts=5, left=1)
    assert seen == [2, 5]


async def test_a_bus_that_is_away_ends_it_after_three_attempts() -> None:
    bus = FailingBus()
    bus.fails[TOPIC] = 1_000
    async with client_on(bus) as client:
        with pytest.raises(BusError):
            await reindex_facts(client)
    assert bus.published.count(TOPIC) == 3


async def test_what_the_bus_never_takes_is_sent_once() -> None:
    bus = FailingBus()
    bus.max_sizes[TOPIC] = 1
    async with client_on(bus) as client:
        with pytest.raises(RejectedByBusError):
            await reindex_facts(client)
    assert bus.published.count(TOPIC) == 1
