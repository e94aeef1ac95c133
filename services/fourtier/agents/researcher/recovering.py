"""Going on with a research that was interrupted: its checkpoint, with the entries read again."""

import asyncio
from collections.abc import Iterable, Mapping

from fourtier.agents.researcher.checkpoint import Checkpoint, Found, StoredEnd, checksum
from fourtier.agents.researcher.journal import Recovered
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import GET_PAGE, ArchiveEntry, GetPageRequest
from fourtier.schema.message import Scope
from fourtier.schema.researcher import Evidence, ResearchProgress


async def recover(caller: Caller, scope: Scope, checkpoint: Checkpoint) -> Recovered | None:
    """The state with its entries; None where one of them is gone, or has another content.

    Notes, and what was searched for after them, may tell what stood in an entry, so that nothing of
    the state is used when one was forgotten.

    Raises:
        FourtierError: the archive does not answer.
    """
    found = checkpoint.found
    entries = await _read(caller, scope, found)
    return Recovered(checkpoint, entries) if all(_same(each, entries) for each in found) else None


async def replay_end(caller: Caller, scope: Scope, end: StoredEnd) -> ResearchProgress:
    """The last step of a research that has ended, without what was forgotten since.

    Raises:
        FourtierError: the archive does not answer.
    """
    entries = await _read(caller, scope, [each.found for each in end.evidence])
    there = [each for each in end.evidence if _same(each.found, entries)]
    ids = {each.found.entry_id for each in there}
    notes = [note for note in end.notes if ids.issuperset(each.entry_id for each in note.rests_on)]
    evidence = tuple(
        Evidence(
            entry=entries[each.found.entry_id],
            score=each.found.score,
            round=each.round,
            covers=each.covers,
            linked_to=each.linked_to_id if each.linked_to_id in ids else "",
            link=each.link if each.linked_to_id in ids else "",
            notes=tuple(
                note.content
                for note in notes
                if each.found.entry_id in {cited.entry_id for cited in note.rests_on}
            ),
        )
        for each in there
    )
    return ResearchProgress(step="end", round=end.round, evidence=evidence, receipt=end.receipt)


async def _read(caller: Caller, scope: Scope, found: Iterable[Found]) -> Mapping[str, ArchiveEntry]:
    """The pages of entries, as entries by their ids."""
    pages = dict.fromkeys(each.page_id for each in found)
    answers = await asyncio.gather(
        *(
            caller.call(
                GET_PAGE,
                GetPageRequest(user=scope.user, collection=scope.collection, page_id=page),
            )
            for page in pages
        )
    )
    return {entry.id: entry for answer in answers for entry in answer.entries}


def _same(found: Found, entries: Mapping[str, ArchiveEntry]) -> bool:
    entry = entries.get(found.entry_id)
    return entry is not None and checksum(entry) == found.checksum
