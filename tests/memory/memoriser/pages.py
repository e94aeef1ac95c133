"""Conversations whose pages get memos, and how these are read."""

from collections.abc import Callable, Sequence
from typing import Any

from fourtier.schema.archive import (
    LIST_MEMOS,
    LIST_PAGES,
    PAGE_CLOSED,
    ArchiveMemo,
    ArchivePage,
    ListMemosRequest,
    ListPagesRequest,
    PageClosed,
)
from fourtier.schema.conversations import CONVERSATION_ENDED, ConversationEnded
from tests.memory.archive.test_archive_service import START, archived, tell, turn
from tests.support.flow import RunningFlow
from tests.support.waiting import wait_until

#: What is said about the boathouse, with some small talk.
BOATHOUSE = (
    "Hi there!",
    "Torvald Engen repairs the roof of the boathouse for 1,200 crowns.",
    "Oh nice.",
    "The work begins on 14 March and takes nine days.",
)


def by_rule(**archive: Any) -> dict[str, dict[str, Any]]:
    return {"embeddings": {}, "archive": archive, "memoriser": {"method": "rule"}}


def by_model(**memoriser: Any) -> dict[str, dict[str, Any]]:
    return {
        "embeddings": {},
        "completion": {"attempts": 1},
        "archive": {},
        "memoriser": {"method": "llm", **memoriser},
    }


async def end(flow: RunningFlow, conversation_id: str = "c1", user: str = "ann") -> None:
    """End a conversation, which closes its page."""
    ended = ConversationEnded(
        user=user, conversation_id=conversation_id, ended_at=START, reason="call"
    )
    await flow.caller.publish(CONVERSATION_ENDED, ended)


async def converse(
    flow: RunningFlow,
    texts: Sequence[str],
    *,
    conversation_id: str = "c1",
    user: str = "ann",
    first: int = 1,
) -> None:
    """Say something, one speaker after the other, and end the conversation when it is archived."""
    before = sum(page.entries for page in await pages(flow, user))
    for number, text in enumerate(texts, start=first):
        speaker = ("Mia", "Tom")[number % 2]
        reported = turn(number, text, speaker=speaker, conversation_id=conversation_id, user=user)
        await tell(flow, reported.model_copy(update={"turn_id": f"{conversation_id}-{number}"}))
    await archived(flow, before + len(texts), user)
    await end(flow, conversation_id, user)


async def pages(flow: RunningFlow, user: str = "ann") -> list[ArchivePage]:
    """All of a user, in the order of their sources and numbers."""
    listed = await flow.caller.call(LIST_PAGES, ListPagesRequest(user=user, limit=1_000))
    return sorted(listed.pages, key=lambda page: (page.source, page.number))


async def memos(flow: RunningFlow, user: str = "ann", **other: Any) -> list[ArchiveMemo]:
    request = ListMemosRequest(user=user, **other)
    return list((await flow.caller.call(LIST_MEMOS, request)).memos)


async def memos_are(
    flow: RunningFlow, holds: Callable[[list[ArchiveMemo]], bool], user: str = "ann"
) -> list[ArchiveMemo]:
    """Wait until the memos of a user are so; they are returned."""
    found: list[ArchiveMemo] = []

    async def so() -> bool:
        found[:] = await memos(flow, user)
        return holds(found)

    await wait_until(so)
    return found


async def memo_of(flow: RunningFlow, conversation_id: str = "c1") -> ArchiveMemo:
    """Wait until the one page of a conversation has a memo."""
    found = await memos_are(
        flow, lambda memos: any(memo.source == conversation_id for memo in memos)
    )
    (memo,) = [memo for memo in found if memo.source == conversation_id]
    return memo


async def announce_again(flow: RunningFlow, page_id: str, user: str = "ann") -> None:
    """Redeliver the event of a page."""
    await flow.caller.publish(PAGE_CLOSED, PageClosed(user=user, page_id=page_id))
