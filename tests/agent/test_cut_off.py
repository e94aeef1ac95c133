"""A request that comes again after its run has failed: nothing that was done is done twice."""

from pathlib import Path

import pytest

from fourtier.agent.tools import tool
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest
from tests.agent.test_agent import agent, offer
from tests.support.model import Calls, Fails, Says


async def test_a_failed_run_that_comes_again_goes_on_behind_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged: list[str] = []

    @tool(idempotent=False)
    def charge() -> str:
        """Charge the card."""
        charged.append("charged")
        return "charged the card"

    offer(monkeypatch, charge)
    script = (Calls("charge", {}), Fails(401), Says("It is charged."))
    async with agent(tmp_path, *script) as (flow, _client, model):
        request = AgentRequest(question="Pay", user="ann", enable_memory=True, request_id="r1")
        last = [
            [reply async for reply in flow.caller.stream(AGENT_REQUEST, request)][-1]
            for _ in range(2)
        ]

    assert last[0].error
    assert last[1].content == "It is charged."
    assert "charged the card" in model.requests[2].text
    assert charged == ["charged"]
