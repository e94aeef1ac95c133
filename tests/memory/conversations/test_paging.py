"""A record is read page by page, and no answer is larger than a message on the bus may be."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.memory.conversations.store import MAX_ANSWER_CHARACTERS
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import GET_CONVERSATION, GetConversationMemoryRequest
from fourtier.schema.message import MAX_LONG_TEXT
from tests.memory.conversations.support import page, update
from tests.support.flow import running_flow

#: What the bus takes in one message.
MAX_MESSAGE = 5 * 1024 * 1024


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, {"conversations": {}}) as flow:
        yield flow.caller


async def say(caller: Caller, number: int, text: str = "") -> None:
    await update(caller, f"{number} {text}", minute=number, summary_id=f"r{number:03}")


async def read_all(caller: Caller, limit: int | None) -> list[str]:
    """The ids of all invocations, read page by page."""
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = await page(caller, offset=offset, limit=limit)
        found += [each.id for each in answer.conversation.invocations]
        assert limit is None or len(answer.conversation.invocations) <= limit
        offset = answer.next_offset
    return found


@pytest.mark.parametrize("limit", [1, 7, 49, 50, 51, 60, 61, None])
async def test_pages_give_every_invocation_once(caller: Caller, limit: int | None) -> None:
    for number in range(60):
        await say(caller, number)

    assert await read_all(caller, limit) == [f"r{number:03}" for number in range(60)]


async def test_a_short_record_is_one_page(caller: Caller) -> None:
    for number in range(3):
        await say(caller, number)

    answer = await page(caller)
    assert [each.id for each in answer.conversation.invocations] == ["r000", "r001", "r002"]
    assert answer.next_offset is None
    assert not answer.earlier


async def test_a_long_record_is_cut_where_an_answer_would_be_too_large(caller: Caller) -> None:
    text = "\x01" * (MAX_LONG_TEXT - 10)  # six bytes for each character, as JSON
    for number in range(6):
        await say(caller, number, text)

    answer = await page(caller)
    fit = MAX_ANSWER_CHARACTERS // MAX_LONG_TEXT
    assert len(answer.conversation.invocations) == answer.next_offset
    assert 1 <= len(answer.conversation.invocations) <= fit
    assert len(answer.model_dump_json()) < MAX_MESSAGE
    assert await read_all(caller, None) == [f"r{number:03}" for number in range(6)]


async def test_last_leaves_earlier_ones_out_where_the_answer_would_be_too_large(
    caller: Caller,
) -> None:
    for number in range(6):
        await say(caller, number, "x" * (MAX_LONG_TEXT - 10))

    request = GetConversationMemoryRequest(user="ann", conversation_id="c1", last=6)
    answer = await caller.call(GET_CONVERSATION, request)

    ids = [each.id for each in answer.conversation.invocations]
    assert ids == ["r003", "r004", "r005"]
    assert answer.earlier


async def test_last_says_whether_there_are_earlier_ones(caller: Caller) -> None:
    for number in range(3):
        await say(caller, number)

    for last, earlier in ((2, True), (3, False), (4, False)):
        request = GetConversationMemoryRequest(user="ann", conversation_id="c1", last=last)
        assert (await caller.call(GET_CONVERSATION, request)).earlier == earlier
