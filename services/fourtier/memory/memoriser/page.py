"""A closed page of the archive, as a memo is made of it."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property

from fourtier.memory.statements.dates import relative_dates
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import (
    GET_PAGE,
    ArchiveEntry,
    ArchivePage,
    GetPageRequest,
    PageClosed,
)
from fourtier.schema.message import Scope


@dataclass(frozen=True)
class ClosedPage:
    """A page without a memo, and what it says, in order; it has at least one entry.

    Attributes:
        about: the page, with the hash that its memo is made for.
    """

    scope: Scope
    about: ArchivePage
    entries: tuple[ArchiveEntry, ...]

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Who says something on it, each once; of a document its name."""
        return tuple(dict.fromkeys(entry.speaker for entry in self.entries))

    @cached_property
    def said(self) -> str:
        """All that a memo may say of it: words, speakers, and dates, relative ones resolved."""
        return "\n".join(map(_said, self.entries))


async def read_page(caller: Caller, privacy: Privacy, event: PageClosed) -> ClosedPage | None:
    """Read a page; None where there is nothing to do.

    That is when it is gone or has a memo, and when its user has opted out. Personal data that was
    written before the flow's policy was as it is now is taken out.

    Raises:
        CallFailedError, DeadlineExceededError: the archive cannot be asked.
    """
    answer = await caller.call(
        GET_PAGE,
        GetPageRequest(user=event.user, collection=event.collection, page_id=event.page_id),
    )
    page = answer.page
    if page is None or answer.opted_out or not page.closed:
        return None
    if page.memo is not None and page.memo.page_hash == page.page_hash:
        return None
    cleaned = [(await privacy.clean(entry)).message for entry in answer.entries]
    return ClosedPage(event.scope, page, tuple(cleaned))


def _said(entry: ArchiveEntry) -> str:
    dates = relative_dates(entry.content, entry.timestamp).values()
    meant = "; ".join(_in_words(each) for each in dates)
    said_at = _in_words(entry.timestamp.date().isoformat())
    return f"{entry.speaker}. {entry.source}. {said_at}. {entry.content}\n{meant}"


def _in_words(written: str) -> str:
    """A date as ISO 8601 has it, and a day also in words."""
    try:
        day = date.fromisoformat(written)
    except ValueError:  # a week, a month or a year
        return written
    return f"{written}, {day.day} {day:%B %Y, %A}"
