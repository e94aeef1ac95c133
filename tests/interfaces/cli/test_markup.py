"""Square brackets in texts, names and ids are printed as they stand, and not read as markup."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.interfaces.cli.memories import memories_text
from fourtier.interfaces.cli.output import console
from fourtier.operations import flow_check
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema import archive, conversations, episodes, facts
from fourtier.schema.agent import MemoryUsed, RunMetadata
from fourtier.schema.topics import Call
from tests.interfaces.cli.support import Command

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
#: Closes what was never opened, styles, and is the code of an emoji.
ODD = "[/x] [red]a[/] :smile: [link=x]"

FACT = facts.Fact(id=ODD, content=ODD, source=ODD, speaker=ODD, timestamp=AT, valid_from=AT)
EPISODE = episodes.Episode(id=ODD, goal=ODD, steps=(), outcome=ODD, timestamp=AT)
ENTRY = archive.ArchiveEntry(
    id=ODD, page_id=ODD, source=ODD, speaker=ODD, content=ODD, timestamp=AT
)
MEMO = archive.ArchiveMemo(
    id=ODD,
    page_id=ODD,
    page_hash=ODD,
    source=ODD,
    page_number=1,
    content=ODD,
    method="llm",
    model=ODD,
    started_at=AT,
    ended_at=AT,
    made_at=AT,
)
PAGE = archive.ArchivePage(
    id=ODD,
    source=ODD,
    number=1,
    entries=1,
    tokens=9,
    closed=True,
    started_at=AT,
    ended_at=AT,
    memo=MEMO,
)
CONVERSATION = conversations.ConversationSummary(
    conversation_id=ODD, invocations=1, started_at=AT, updated_at=AT, ended=False
)
RECORD = conversations.ConversationMemory(
    conversation_id=ODD,
    invocations=(
        conversations.InvocationSummary(
            id=ODD, query=ODD, summary=ODD, result=ODD, speaker=ODD, timestamp=AT
        ),
    ),
)


def answering(call: Call, answer: Any) -> Route:
    async def handle(_request: Any) -> Any:
        return answer

    return call_route(call, handle)


LEFT_OUT = {ODD: ODD}
EVERYTHING = [
    answering(call, call.answer.model_validate(fields))
    for call, fields in [
        (facts.LIST_FACTS, {"facts": (FACT,), "total": 1}),
        (facts.RETRIEVE_FACTS, {"facts": (FACT,)}),
        (facts.LIST_NAMES, {"names": (facts.MentionedName(name=ODD, facts=1),)}),
        (facts.STORE_FACT, {"fact_id": ODD, "created": True, "superseded": (ODD,)}),
        (episodes.LIST_EPISODES, {"episodes": (EPISODE,), "total": 1}),
        (episodes.RETRIEVE_EPISODES, {"episodes": (EPISODE,)}),
        (conversations.LIST_CONVERSATIONS, {"conversations": (CONVERSATION,), "total": 1}),
        (conversations.GET_RUN, {}),
        (conversations.END_CONVERSATION, {"ended": False}),
        (
            archive.SEARCH_ARCHIVE,
            {"hits": (archive.ArchiveHit(entry=ENTRY, score=1.0),), "left_out": LEFT_OUT},
        ),
        (archive.LIST_DOCUMENTS, {"documents": (), "total": 0}),
        (archive.LIST_PAGES, {"pages": (PAGE,), "total": 1}),
        (archive.LIST_MEMOS, {"memos": (MEMO,), "total": 1, "left_out": LEFT_OUT}),
    ]
]
FOUND = [
    answering(archive.GET_PAGE, archive.GetPageResponse(page=PAGE, entries=(ENTRY,))),
    answering(
        conversations.GET_CONVERSATION,
        conversations.GetConversationMemoryResponse(conversation=RECORD),
    ),
]
MISSING = [
    answering(archive.GET_PAGE, archive.GetPageResponse(page=None)),
    answering(
        conversations.GET_CONVERSATION,
        conversations.GetConversationMemoryResponse(
            conversation=conversations.ConversationMemory(conversation_id=ODD, invocations=())
        ),
    ),
]
ONE_USER = ("--user", ODD, "--collection", ODD)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("facts", "list"), 0),
        (("facts", "search", ODD), 0),
        (("facts", "names"), 0),
        (("facts", "add", ODD), 0),
        (("episodes", "list"), 0),
        (("episodes", "search", ODD), 0),
        (("conversations", "list"), 0),
        (("conversations", "show", ODD), 0),
        (("archive", "search", ODD), 0),
        (("archive", "show", ODD), 0),
        (("archive", "list"), 0),
        (("archive", "memos"), 0),
        (("why", ODD), 1),
        (("end", ODD), 1),
    ],
)
def test_brackets_are_printed_as_they_stand(
    fourtier: Command, command: tuple[str, ...], code: int
) -> None:
    fourtier.routes = [*EVERYTHING, *FOUND]
    assert fourtier(*command, *ONE_USER) == code
    assert "".join(ODD.split()) in "".join(fourtier.said.split())


@pytest.mark.parametrize("command", [("archive", "show"), ("conversations", "show")])
def test_what_is_not_there_is_named_as_it_was_typed(
    fourtier: Command, command: tuple[str, ...]
) -> None:
    fourtier.routes = [*EVERYTHING, *MISSING]
    assert fourtier(*command, ODD, *ONE_USER) == 1
    assert f"{ODD}/{ODD} has no" in fourtier.err
    assert fourtier.err.count(ODD) == 3


@pytest.mark.parametrize("option", ["--service", "--flow"])
def test_a_wrong_argument_is_named_as_it_was_typed(fourtier: Command, option: str) -> None:
    assert fourtier("dead-letters", "list", option, ODD) == 2
    assert "[/x]" in fourtier.said


def test_a_warning_of_a_flow_is_printed_as_it_stands(
    fourtier: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_check, "check_flow", lambda _: [ODD])
    assert fourtier("flow", "check", "laptop") == 0
    assert f"warning: {ODD}" in fourtier.err


def test_files_are_named_as_they_are(
    fourtier: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("[").mkdir()
    for name in ("[/x].jsonl", "[/x].docx"):
        Path(name).write_text(json.dumps({"bad": ODD}), "utf-8")
    assert fourtier("import", "[/x].jsonl", "[/x].docx", "[/x].txt") == 1
    for name in ("[/x].jsonl", "[/x].docx", "[/x].txt"):
        assert name in fourtier.said


def test_memories_of_an_answer_are_printed_as_they_stand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    used = MemoryUsed(tier="facts", id=ODD, content=ODD, timestamp=AT)
    metadata = RunMetadata(
        run_id=ODD, memories=(used,), tiers_left_out={ODD: ODD}, redacted={ODD: 1}
    )
    console.print(memories_text(metadata), soft_wrap=True)
    assert capsys.readouterr().out.count(ODD) == 4
