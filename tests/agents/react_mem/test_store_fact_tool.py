"""What the model is told of a fact that the facts service did not store."""

from datetime import UTC, datetime

import pytest

from fourtier.agents.react_mem.tools.memory import StoreFactTool
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.facts import STORE_FACT, StoreFactRequest, StoreFactResponse
from fourtier.schema.message import NotStored, Scope
from fourtier.tools.contract import RunContext
from tests.runtime.rpc.support import served

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("reason", "reported"),
    [
        ("forgotten", "had this forgotten"),
        ("opted-out", "opted out of memory"),
        ("expired", "longer ago"),
        ("evicted", "memory is full"),
        (None, "That was known already."),
    ],
)
async def test_the_model_learns_why_a_fact_is_not_stored(
    reason: NotStored | None, reported: str
) -> None:
    async def answer(request: StoreFactRequest) -> StoreFactResponse:
        assert request.timestamp == NOW
        return StoreFactResponse(fact_id="f1", created=False, not_stored=reason)

    bus = MemoryBus()
    async with served(bus, call_route(STORE_FACT, answer)), open_caller(bus) as caller:
        context = RunContext("r1", Scope("ann", "default"), "c1", caller, NOW)
        observed = await StoreFactTool().run({"fact_content": "I live in Oslo."}, context)
    assert reported in observed
    assert observed.startswith("Not remembered") == (reason is not None)
