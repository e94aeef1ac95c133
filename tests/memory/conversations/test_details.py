"""What a record keeps beside the words: metadata, and what promotion may make of an invocation."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.conversations.records import to_summary
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.conversations import (
    GET_CONVERSATION,
    UPDATE_CONVERSATION,
    GetConversationMemoryRequest,
    InvocationSummary,
    UpdateConversationMemoryRequest,
)
from fourtier.schema.erasure import ERASE_CONVERSATIONS, EraseRequest
from tests.memory.conversations.support import START, end, record, run, update
from tests.support.flow import running_flow
from tests.support.waiting import wait_until


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, {"conversations": {}}) as flow:
        yield flow.caller


async def store(caller: Caller, **fields: Any) -> InvocationSummary:
    """Store a summary, and read it back."""
    summary = InvocationSummary(id="r1", query="Where?", timestamp=START, **fields)
    await caller.call(
        UPDATE_CONVERSATION,
        UpdateConversationMemoryRequest(
            user="ann", conversation_id="c1", invocation_summary=summary
        ),
    )
    (found,) = (await record(caller)).invocations
    return found


async def test_metadata_is_given_back_as_it_came(caller: Caller) -> None:
    metadata = {"channel": "phone", "tags": ["a", "ü"], "cost": 0.5, "nested": {"x": None}}

    assert (await store(caller, metadata=metadata)).metadata == metadata
    assert (await record(caller, last=1)).invocations[0].metadata == metadata


async def test_changed_metadata_replaces_what_was_there_and_equal_metadata_changes_nothing(
    caller: Caller,
) -> None:
    await store(caller, metadata={"a": 1, "b": 2})
    assert await end(caller)
    await store(caller, metadata={"b": 2, "a": 1})
    assert (await record(caller)).ended  # a repetition does not reopen it

    assert (await store(caller, metadata={"a": 3})).metadata == {"a": 3}
    assert not (await record(caller)).ended


async def test_what_is_to_be_forgotten_is_found_in_metadata_too(caller: Caller) -> None:
    await store(caller, metadata={"caller": "Frau Müller"})
    erased = await caller.call(
        ERASE_CONVERSATIONS, EraseRequest(user="ann", containing=("müller",))
    )

    assert erased.number == 1
    assert (await record(caller)).invocations == ()


@pytest.mark.parametrize(("facts", "episode"), [(True, True), (False, True), (True, False)])
async def test_what_the_agents_flow_wants_of_a_run_stays_with_it(
    caller: Caller, *, facts: bool, episode: bool
) -> None:
    event = run("r1").model_copy(update={"extract_facts": facts, "record_episode": episode})
    await caller.publish(INVOCATION_ENDED, event)

    async def recorded() -> bool:
        return bool((await record(caller)).invocations)

    await wait_until(recorded)
    (found,) = (await record(caller)).invocations
    assert (found.extract_facts, found.record_episode) == (facts, episode)


def test_an_invocation_of_an_older_release_has_neither_metadata_nor_a_switch_that_is_off() -> None:
    texts = dict.fromkeys(("invocation_id", "query", "summary", "result", "speaker"), "x")
    older = {"said_at": START.isoformat(), "metadata": None, "no_facts": None, "no_episode": None}

    found = to_summary({**texts, **older})

    assert (found.metadata, found.extract_facts, found.record_episode) == ({}, True, True)


async def earlier(caller: Caller, last: int) -> str:
    request = GetConversationMemoryRequest(user="ann", conversation_id="c1", last=last)
    return (await caller.call(GET_CONVERSATION, request)).earlier_summary


async def test_older_invocations_are_told_in_a_line_each(caller: Caller) -> None:
    for number in range(3):
        summary = InvocationSummary(
            id=f"r{number}",
            query=f"Question {number}?\n" + "and so on " * 30,
            summary="Used map.",
            result=f"Answer {number}.",
            speaker="Mia" if number == 1 else "",
            timestamp=START.replace(minute=number),
        )
        await caller.call(
            UPDATE_CONVERSATION,
            UpdateConversationMemoryRequest(
                user="ann", conversation_id="c1", invocation_summary=summary
            ),
        )
    await update(caller, "elsewhere", conversation_id="c2")
    await update(caller, "another's", user="bob")

    first, second = (await earlier(caller, 1)).splitlines()

    assert first.startswith("- 2026-03-01 Question 0? and so on")
    assert first.endswith("… → Used map. Answer 0.")
    assert second.startswith("- 2026-03-01 Mia: Question 1?")
    assert len(first) < 230
    assert await earlier(caller, 3) == ""


async def test_of_very_many_the_newest_have_a_line_and_the_others_are_counted(
    tmp_path: Path,
) -> None:
    services = {"conversations": {"earlier-characters": 120}}
    async with running_flow(tmp_path, services) as flow:
        for number in range(12):
            await update(flow.caller, f"Question {number}?", minute=number)

        assert (await earlier(flow.caller, 2)).splitlines() == [
            "(6 before that)",
            *(f"- 2026-03-01 Question {number}?" for number in range(6, 10)),
        ]


async def test_the_summary_can_be_switched_off(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"conversations": {"earlier-characters": 0}}) as flow:
        for number in range(3):
            await update(flow.caller, f"Question {number}?", minute=number)

        assert await earlier(flow.caller, 1) == ""
