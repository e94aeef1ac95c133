"""The archive end to end: bus, embeddings, graph and vectors, all real."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.schema.agent import INVOCATION_ENDED, AgentStep, InvocationEnded
from fourtier.schema.archive import (
    GET_PAGE,
    LIST_PAGES,
    SEARCH_ARCHIVE,
    ArchiveHit,
    GetPageRequest,
    ListPagesRequest,
    ListPagesResponse,
    SearchArchiveRequest,
)
from fourtier.schema.conversations import (
    CONVERSATION_ENDED,
    DIALOGUE_RECORDED,
    ConversationEnded,
    DialogueTurn,
)
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
async def flow(tmp_path: Path) -> AsyncGenerator[RunningFlow]:
    async with running_flow(tmp_path, SERVICES) as running:
        yield running


def turn(number: int, content: str, *, speaker: str = "Mia", **other: Any) -> DialogueTurn:
    fields: dict[str, Any] = {"user": "ann", "conversation_id": "c1"} | other
    return DialogueTurn(
        speaker=speaker,
        content=content,
        timestamp=START + timedelta(minutes=number),
        turn_id=f"t{number}",
        **fields,
    )


def run(run_id: str, question: str, *, minute: int = 0, **other: Any) -> InvocationEnded:
    at = START + timedelta(minutes=minute)
    fields: dict[str, Any] = {"user": "ann", "conversation_id": "c1"} | other
    return InvocationEnded(run_id=run_id, question=question, started_at=at, ended_at=at, **fields)


async def tell(flow: RunningFlow, *messages: DialogueTurn | InvocationEnded) -> None:
    for message in messages:
        topic = DIALOGUE_RECORDED if isinstance(message, DialogueTurn) else INVOCATION_ENDED
        await flow.caller.publish(topic, message)  # type: ignore[arg-type]


async def pages(flow: RunningFlow, user: str = "ann") -> ListPagesResponse:
    return await flow.caller.call(LIST_PAGES, ListPagesRequest(user=user))


async def entries(flow: RunningFlow, user: str = "ann") -> int:
    return sum(page.entries for page in (await pages(flow, user)).pages)


async def archived(flow: RunningFlow, number: int, user: str = "ann") -> None:
    """Wait until there are so many entries, and all can be found."""

    async def there() -> bool:
        if await entries(flow, user) != number:
            return False
        found = await search(flow, "anything", user, legs=("meaning",), top_k=100)
        return len(found) == number

    await wait_until(there)


async def search(
    flow: RunningFlow, query: str, user: str = "ann", **other: Any
) -> list[ArchiveHit]:
    request = SearchArchiveRequest(user=user, query=query, **other)
    return list((await flow.caller.call(SEARCH_ARCHIVE, request)).hits)


@pytest.mark.cluster
async def test_what_was_said_is_found_word_for_word(flow: RunningFlow) -> None:
    said = "We  hid the *violoncello* behind the barn - do not tell!\n\nAnd the bow?"
    await tell(flow, turn(1, "Did you see my bike?"), turn(2, said), turn(3, "I like tea."))
    await archived(flow, 3)

    (hit, *_) = await search(flow, "Where is the cello? violoncello")

    assert hit.entry.content == said
    assert (hit.entry.speaker, hit.entry.source) == ("Mia", "c1")
    assert hit.entry.timestamp == START + timedelta(minutes=2)


async def test_a_run_is_found_with_what_tools_and_assistant_said(flow: RunningFlow) -> None:
    steps = (
        AgentStep(
            thought="I look.",
            action="flights",
            arguments={"to": "Rome"},
            observation="AB12 leaves at 9:40 for 120 euros",
            status="ok",
        ),
        AgentStep(action="retrieve_facts", observation="Ann is afraid of flying", status="ok"),
    )
    event = InvocationEnded(
        user="ann",
        conversation_id="c1",
        run_id="r1",
        question="When can I fly to Rome?",
        answer="The earliest is AB12; a window seat is left.",
        steps=steps,
        started_at=START,
        ended_at=START + timedelta(minutes=1),
    )
    await tell(flow, event)
    await archived(flow, 3)

    (by_tool, *_) = await search(flow, "120 euros 9:40")
    (by_assistant, *_) = await search(flow, "Is a window seat left?", speaker="Assistant")
    page = await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", entry_id=by_tool.entry.id))

    assert by_tool.entry.content == 'flights({"to": "Rome"})\nAB12 leaves at 9:40 for 120 euros'
    assert by_tool.entry.part == "step-1"
    assert by_assistant.entry.content == event.answer
    assert [each.part for each in page.entries] == ["question", "step-1", "answer"]
    assert page.page is not None
    assert (page.page.id, page.page.closed) == (by_tool.entry.page_id, False)
    assert not any("afraid" in each.content for each in page.entries)


async def test_the_same_message_again_changes_nothing(flow: RunningFlow) -> None:
    turns = [turn(number, f"Sentence number {number}.") for number in range(5)]
    await tell(flow, *turns)
    await archived(flow, 5)
    before = await pages(flow)
    await tell(flow, *turns[::-1], *turns, turn(9, "The last one."))
    await archived(flow, 6)

    (page,) = (await pages(flow)).pages
    assert page.entries == before.pages[0].entries + 1
    read = await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", page_id=page.id))
    assert [each.invocation_id for each in read.entries] == ["t0", "t1", "t2", "t3", "t4", "t9"]


async def test_a_run_that_is_told_of_again_has_its_last_words(flow: RunningFlow) -> None:
    def event(answer: str) -> InvocationEnded:
        return InvocationEnded(
            user="ann",
            conversation_id="c1",
            run_id="r1",
            question="Where is the key?",
            answer=answer,
            started_at=START,
            ended_at=START,
        )

    await tell(flow, event("The zeppelin waits."))
    await archived(flow, 2)
    await tell(flow, event("Under the mat."))

    async def replaced() -> bool:
        found = await search(flow, "Under the mat", legs=("words",))
        return [hit.entry.content for hit in found] == ["Under the mat."]

    await wait_until(replaced)
    await archived(flow, 2)
    for leg in ("words", "window"):
        assert await search(flow, "zeppelin", legs=(leg,)) == []


async def test_a_full_page_and_that_of_an_ended_conversation_get_no_more(flow: RunningFlow) -> None:
    words = " ".join(f"word{number}" for number in range(400))  # 800 tokens or so
    await tell(flow, *(turn(number, f"{number} {words}") for number in range(3)))
    await archived(flow, 3)
    await flow.caller.publish(
        CONVERSATION_ENDED,
        ConversationEnded(
            user="ann", conversation_id="c1", ended_at=START + timedelta(hours=1), reason="call"
        ),
    )

    async def closed() -> bool:
        return [page.closed for page in (await pages(flow)).pages] == [True, True]

    await wait_until(closed)
    await tell(flow, turn(3, "One more thing."))
    await archived(flow, 4)

    listed = sorted((await pages(flow)).pages, key=lambda page: page.number)
    assert [(page.number, page.entries, page.closed) for page in listed] == [
        (1, 2, True),
        (2, 1, True),
        (3, 1, False),
    ]
    assert all(page.tokens <= 2_048 for page in listed)


async def test_all_of_a_long_text_is_found(flow: RunningFlow) -> None:
    lines = [f"Line {number} of the log tells nothing." for number in range(300)]
    lines[250] = "```\nraise ZeppelinError('the hangar is closed')\n```"
    text = "\n".join(lines)
    await tell(flow, turn(1, text))
    await archived(flow, 1)

    (hit, *more) = await search(flow, "Which error says that the hangar is closed?")

    assert hit.entry.content == text
    assert more == []


async def test_words_of_neighbours_find_an_entry_whichever_comes_first(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "I like tea."), turn(2, "Where did you buy the violoncello?"))
    await archived(flow, 2)
    await tell(flow, turn(3, "In Cremona."), turn(4, "Nice."), turn(5, "How was the zeppelin?"))
    await archived(flow, 5)

    async def by_window(query: str) -> set[str]:
        return {hit.entry.content for hit in await search(flow, query, legs=("window",))}

    bought = {"I like tea.", "Where did you buy the violoncello?", "In Cremona.", "Nice."}
    assert await by_window("violoncello") == bought
    assert await by_window("zeppelin") == {"In Cremona.", "Nice.", "How was the zeppelin?"}


async def test_a_search_can_be_narrowed(flow: RunningFlow) -> None:
    await tell(
        flow,
        turn(1, "The violoncello is blue."),
        turn(2, "The violoncello is red.", speaker="Tom"),
        turn(3, "The violoncello is green.", conversation_id="c2"),
    )
    await archived(flow, 3)

    async def colours(**narrowed: Any) -> set[str]:
        found = await search(flow, "violoncello", **narrowed)
        return {hit.entry.content.split()[-1].strip(".") for hit in found}

    assert await colours() == {"blue", "red", "green"}
    assert await colours(speaker="tom") == {"red"}
    assert await colours(source="c2") == {"green"}
    assert await colours(since=START + timedelta(minutes=2)) == {"red", "green"}
    assert await colours(until=START + timedelta(minutes=2)) == {"blue"}
    assert await colours(source="c1", since=START + timedelta(minutes=2)) == {"red"}
    assert await colours(user="bob") == set()


async def test_a_hit_says_what_found_it(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "A violoncello."), turn(2, "A cat."), turn(3, "A hill."))
    await archived(flow, 3)

    (first, *_) = await search(flow, "violoncello", explain=True)
    (silent, *_) = await search(flow, "violoncello")

    assert set(first.legs) == {"words", "window", "meaning", "context", "source"}
    assert (first.legs["words"].rank, first.legs["meaning"].rank) == (1, 1)
    assert silent.legs == {}
    assert (silent.entry, silent.score) == (first.entry, first.score)


async def test_of_equal_turns_that_of_a_conversation_about_it_comes_first(
    flow: RunningFlow,
) -> None:
    alike = "The violoncello is old."
    await tell(
        flow,
        turn(1, alike, conversation_id="c2"),
        turn(2, alike),
        turn(3, "That violoncello was repaired in Cremona."),
        turn(4, "A cat.", conversation_id="c3"),
    )
    await archived(flow, 4)

    found = await search(flow, "violoncello", legs=("words",), explain=True)

    by_source = {hit.entry.source: hit for hit in found if hit.entry.content == alike}
    assert by_source["c1"].legs["words"].score == by_source["c2"].legs["words"].score
    assert by_source["c1"].score > by_source["c2"].score
    assert [by_source[name].legs["source"].rank for name in ("c1", "c2")] == [1, 2]


async def test_without_embeddings_the_words_search(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES) as flow:
        await tell(flow, turn(1, "A violoncello."))
        await archived(flow, 1)
    async with running_flow(tmp_path, {"archive": {"embedding-seconds": 0.2}}) as flow:
        request = SearchArchiveRequest(user="ann", query="violoncello")
        found = await flow.caller.call(SEARCH_ARCHIVE, request)
    assert [hit.entry.content for hit in found.hits] == ["A violoncello."]
    assert set(found.left_out) == {"meaning", "context"}


@pytest.mark.cluster
async def test_nobody_finds_or_reads_what_others_said(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "The code is 4711.", user="bob"), turn(2, "I like tea."))
    await archived(flow, 1)
    await archived(flow, 1, "bob")
    (theirs,) = (await pages(flow, "bob")).pages
    (entry,) = await search(flow, "code", "bob")

    assert await search(flow, "What is the code 4711?", legs=("words",)) == []
    for asked in ({"page_id": theirs.id}, {"entry_id": entry.entry.id}):
        answer = await flow.caller.call(GET_PAGE, GetPageRequest(user="ann", **asked))
        assert (answer.page, answer.entries) == (None, ())


async def test_secrets_are_taken_out_before_anything_is_written(flow: RunningFlow) -> None:
    await tell(flow, turn(1, "My card is 4111 1111 1111 1111, use it."))
    await archived(flow, 1)
    (hit,) = await search(flow, "card")
    assert "4111" not in hit.entry.content
    assert "use it" in hit.entry.content
