"""A running turn works with what was said; on disk, and for a run taken up, it is redacted."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    WorkingMemoryItem,
)
from fourtier.tools import tool
from tests.agents.react_mem.test_agent import agent, offer
from tests.agents.react_mem.test_interrupted_runs import replies_to, request
from tests.support.listening import listening
from tests.support.model import Calls, Says

IBAN = "DE89 3704 0044 0532 0130 00"


async def test_the_model_sees_the_tools_result_and_the_disk_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []

    @tool(idempotent=True)
    def bank(order: str) -> str:
        """Do something with money.

        Args:
            order: what is to be done.
        """
        used.append(order)
        return f"Tom has {IBAN}" if order == "find Tom" else "sent"

    offer(monkeypatch, bank)
    script = [
        Calls("bank", {"order": "find Tom"}),
        Calls("bank", {"order": f"send to {IBAN}"}, thought=f"It is {IBAN}"),
        Says(f"Sent to {IBAN}."),
    ]
    async with (
        agent(tmp_path, *script) as (flow, _client, model),
        listening(flow.bus, INVOCATION_ENDED) as ended,
    ):
        got = await replies_to(flow, request())
        event = await ended.next()
        stored = await flow.caller.call(
            GET_WORKING_MEMORY, GetWorkingMemoryRequest(user="ann", run_id="r1", full=True)
        )

    assert used == ["find Tom", f"send to {IBAN}"]
    assert f"Tom has {IBAN}" in model.requests[1].text
    assert got[-1].content == f"Sent to {IBAN}."
    assert stored.answer == "Sent to [left out: iban]."
    assert IBAN not in event.model_dump_json()
    assert event.steps[0].observation == "Tom has [left out: iban]"
    assert event.steps[1].arguments == {"order": "send to [left out: iban]"}


async def test_an_action_is_not_run_again_with_the_arguments_that_are_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []

    @tool(idempotent=True)
    def transfer(iban: str) -> str:
        """Send money.

        Args:
            iban: where to.
        """
        used.append(iban)
        return "sent"

    offer(monkeypatch, transfer)
    action = WorkingMemoryItem(
        id="r1/0/action",
        step=0,
        type="action",
        content=f"transfer({IBAN})",
        timestamp=datetime.now(UTC),
        metadata={"tool": "transfer", "arguments": {"iban": IBAN}},
    )
    async with agent(tmp_path, Says("Not sent.")) as (flow, _client, model):
        await flow.caller.call(
            APPEND_WORKING_MEMORY,
            AppendWorkingMemoryRequest(user="ann", run_id="r1", items=(action,)),
        )
        got = await replies_to(flow, request())

    assert used == []
    assert "Its arguments had personal data" in model.requests[0].text
    assert got[-1].content == "Not sent."


async def test_the_model_learns_that_a_fact_was_stored_without_a_part_of_it(
    tmp_path: Path,
) -> None:
    fact = f"Tom in Bergen has the account {IBAN}"
    script = [Calls("store_fact", {"fact_content": fact}), Says("Noted.")]
    async with agent(tmp_path, *script) as (flow, _client, model):
        await replies_to(flow, request())

    assert "Remembered without what is not kept here: iban." in model.requests[1].text
