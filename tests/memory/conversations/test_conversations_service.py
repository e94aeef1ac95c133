"""The conversations service end to end, over a bus and a graph that are real."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import INVOCATION_ENDED, AgentStep
from fourtier.schema.conversations import (
    DIALOGUE_RECORDED,
    LIST_CONVERSATIONS,
    ListConversationsRequest,
    ListConversationsResponse,
)
from fourtier.schema.erasure import ERASE_CONVERSATIONS
from fourtier.schema.message import Scope
from tests.memory.conversations.support import START, end, record, run, turn, update
from tests.support.erasing import erase
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

SERVICES = {"conversations": {}}


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


@pytest.fixture
def caller(flow: RunningFlow) -> Caller:
    return flow.caller


async def listed(
    caller: Caller, *, user: str = "ann", limit: int = 100, offset: int = 0
) -> ListConversationsResponse:
    return await caller.call(
        LIST_CONVERSATIONS, ListConversationsRequest(user=user, limit=limit, offset=offset)
    )


async def delete(caller: Caller, *, user: str = "ann", conversation_id: str = "c1") -> bool:
    scope = Scope(user, "default")
    return await erase(caller, ERASE_CONVERSATIONS, scope, conversation_id=conversation_id) > 0


async def until_recorded(caller: Caller, number: int, conversation_id: str = "c1") -> None:
    async def there() -> bool:
        found = await record(caller, conversation_id=conversation_id)
        return len(found.invocations) == number

    await wait_until(there)


async def test_an_unknown_conversation_has_no_invocations(caller: Caller) -> None:
    found = await record(caller)

    assert found.conversation_id == "c1"
    assert found.invocations == ()
    assert not found.ended


@pytest.mark.cluster
async def test_a_finished_run_is_recorded_as_asked_did_result(caller: Caller) -> None:
    steps = (
        AgentStep(thought="First look.", action="retrieve_facts", observation="10,000"),
        AgentStep(action="calculator", observation="5,000"),
        AgentStep(action="calculator", observation="2,500"),
        AgentStep(thought="That is all."),
    )
    await caller.publish(INVOCATION_ENDED, run("r1", steps=steps, answer="2,500 dollars."))
    await until_recorded(caller, 1)

    invocation = (await record(caller)).invocations[0]

    assert invocation.id == "r1"
    assert invocation.query == "question of r1"
    assert invocation.summary == "Used retrieve_facts, then calculator twice."
    assert invocation.result == "2,500 dollars."
    assert invocation.timestamp == START


async def test_imported_turns_keep_speaker_and_date(caller: Caller) -> None:
    await caller.publish(DIALOGUE_RECORDED, turn(1))
    await until_recorded(caller, 1, "old")

    invocation = (await record(caller, conversation_id="old")).invocations[0]

    assert invocation.id == "D1:1"
    assert invocation.query == "This is sentence 1."
    assert invocation.speaker == "Caroline"
    assert (invocation.timestamp.year, invocation.summary, invocation.result) == (2023, "", "")


async def test_invocations_stand_in_the_order_of_their_time_however_they_arrive(
    caller: Caller,
) -> None:
    for number in sorted(range(300), key=lambda number: number * 7919 % 300):
        await caller.publish(DIALOGUE_RECORDED, turn(number))
    await until_recorded(caller, 300, "old")

    found = await record(caller, conversation_id="old")

    assert [each.id for each in found.invocations] == [f"D1:{number}" for number in range(300)]


async def test_the_same_moment_is_ordered_by_id(caller: Caller) -> None:
    for name in ("b", "c", "a"):
        await update(caller, name, summary_id=name)

    assert [each.id for each in (await record(caller)).invocations] == ["a", "b", "c"]


async def test_last_gives_the_newest_oldest_first(caller: Caller) -> None:
    for minute in range(5):
        await update(caller, f"q{minute}", minute=minute)

    found = await record(caller, last=2)

    assert [each.query for each in found.invocations] == ["q3", "q4"]


async def test_a_second_update_with_an_id_replaces_the_first(caller: Caller) -> None:
    await update(caller, "first words", summary_id="r1")
    await update(caller, "second words", summary_id="r1")

    assert [each.query for each in (await record(caller)).invocations] == ["second words"]


async def test_an_update_without_an_id_that_is_repeated_is_there_once(caller: Caller) -> None:
    await update(caller, "the same")
    await update(caller, "the same")
    await update(caller, "the same", minute=1)

    assert len((await record(caller)).invocations) == 2


async def test_repeated_events_change_nothing(caller: Caller) -> None:
    for _ in range(3):
        await caller.publish(INVOCATION_ENDED, run("r1"))
        await caller.publish(DIALOGUE_RECORDED, turn(1, conversation_id="c1"))
    await update(caller, "last", summary_id="last", minute=9)
    await until_recorded(caller, 3)
    before = await listed(caller)
    await caller.publish(INVOCATION_ENDED, run("r1"))
    await caller.publish(INVOCATION_ENDED, run("other", conversation_id="c2"))
    await until_recorded(caller, 1, "c2")

    after = await listed(caller)

    assert after.total == 2
    assert after.conversations[1] == before.conversations[0]  # not even touched


async def test_two_users_with_one_conversation_id_have_two_conversations(caller: Caller) -> None:
    await update(caller, "of ann", user="ann", summary_id="r1")
    await update(caller, "of bob", user="bob", summary_id="r1")
    await update(caller, "at work", user="ann", collection="work", summary_id="r1")

    assert [each.query for each in (await record(caller, user="ann")).invocations] == ["of ann"]
    assert [each.query for each in (await record(caller, user="bob")).invocations] == ["of bob"]
    found = await record(caller, user="ann", collection="work")
    assert [each.query for each in found.invocations] == ["at work"]
    assert (await listed(caller, user="ann")).total == 1
    assert await end(caller, user="bob")
    assert not (await record(caller, user="ann")).ended
    assert await delete(caller, user="bob")
    assert len((await record(caller, user="ann")).invocations) == 1


async def test_a_list_pages_through_conversations_last_touched_first(caller: Caller) -> None:
    for name in ("c1", "c2", "c3"):
        await update(caller, "hello", conversation_id=name, minute=5)
    await update(caller, "hello again", conversation_id="c1", minute=1)

    first = await listed(caller, limit=2)
    second = await listed(caller, limit=2, offset=2)

    assert [each.conversation_id for each in first.conversations] == ["c1", "c3"]
    assert [each.conversation_id for each in second.conversations] == ["c2"]
    assert first.total == second.total == 3
    assert first.conversations[0].invocations == 2
    assert first.conversations[0].started_at.minute == 1
    assert first.conversations[0].updated_at > first.conversations[1].updated_at


async def test_a_deleted_conversation_leaves_nothing_and_may_begin_again(caller: Caller) -> None:
    await update(caller, "one")
    await update(caller, "two", minute=1)

    assert await delete(caller)
    assert not await delete(caller)
    assert (await record(caller)).invocations == ()
    assert (await listed(caller)).total == 0

    await update(caller, "two", minute=1, stored=False)  # it was on its way
    assert (await record(caller)).invocations == ()
    await update(caller, "three", minute=1_000_000)  # said after that
    assert [each.query for each in (await record(caller)).invocations] == ["three"]


async def test_text_comes_back_as_it_was_said(caller: Caller) -> None:
    said = 'He said: "it\'s\\n 5 €" -- 你好 \U0001f600\n\t{x: $scope} // DROP\0.'

    name = said.replace("\n", " ").replace("\t", " ").replace("\0", " ")

    await update(caller, said, summary_id=said, conversation_id=name)

    found = await record(caller, conversation_id=name)
    assert [(each.id, each.query) for each in found.invocations] == [(said, said)]


@pytest.mark.cluster
async def test_records_and_the_queue_survive_a_restart(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        await update(flow.caller, "before", summary_id="r1")
        assert await end(flow.caller)
    async with running_flow(tmp_path, {}, bus="embedded") as flow:
        await flow.caller.publish(INVOCATION_ENDED, run("r2", minute=1))
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        await until_recorded(flow.caller, 2)
        found = await record(flow.caller)

    assert [each.id for each in found.invocations] == ["r1", "r2"]


async def test_conversations_of_two_collections_stay_two_whatever_their_names(
    caller: Caller,
) -> None:
    await update(caller, "The secret.", collection="a", conversation_id="b/c")
    await update(caller, "Hello.", collection="a/b", conversation_id="c")

    for collection, conversation_id, text in (
        ("a", "b/c", "The secret."),
        ("a/b", "c", "Hello."),
    ):
        found = await record(caller, collection=collection, conversation_id=conversation_id)
        assert [each.query for each in found.invocations] == [text]
