"""Archiving only what was not forgotten, and deleting what was said for good."""

from collections.abc import Sequence
from datetime import datetime

from fourtier.engines.timestamps import as_text
from fourtier.memory.archive.announcing import Announcing
from fourtier.memory.archive.entries import Entry
from fourtier.memory.archive.index import ArchiveIndex
from fourtier.memory.archive.memo_store import Stale
from fourtier.memory.archive.memos import Memo
from fourtier.memory.archive.paging import SourceState
from fourtier.memory.archive.removal import ArchiveRemoval
from fourtier.memory.archive.store import ArchiveStore
from fourtier.memory.tombstones.selection import Selection
from fourtier.memory.tombstones.store import Tombstones, store_unless_forgotten
from fourtier.memory.tombstones.subject import Said, of_block, said
from fourtier.schema.message import Scope


class ArchiveWriter:
    """Stores entries and forgets them, beside writers of others.

    Memos of pages that say something else from then on go with that, and these are announced.
    """

    def __init__(
        self,
        store: ArchiveStore,
        index: ArchiveIndex,
        removal: ArchiveRemoval,
        tombstones: Tombstones,
        announcing: Announcing,
    ) -> None:
        self._store = store
        self._index = index
        self._removal = removal
        self._tombstones = tombstones
        self._announcing = announcing

    async def append(self, entries: Sequence[Entry], now: datetime) -> list[bool]:
        """Store the entries that were not forgotten, so that they can be found when this returns.

        Graph first, vectors second: what fails in between is made good by the repetition of the
        messages.

        Returns:
            Of each entry whether it is there and was not before.
        """
        new: set[int] = set()
        changed: set[str] = set()

        async def store(indices: Sequence[int]) -> list[int]:
            appended = await self._store.append(
                [entries[index] for index in indices], now, self._removal.drop
            )
            changed.update(appended.pages)
            await self._index.bring_in_step(appended.entries, appended.before)
            added = {each.id for each in appended.entries} - appended.before.keys()
            new.update(index for index in indices if entries[index].id in added)
            return list(new)

        async def take_out(indices: Sequence[int]) -> None:
            for entry in (entries[index] for index in indices):
                await self.delete(entry.source.scope, [entry.id])

        when = [_said(entry) for entry in entries]
        reasons = await store_unless_forgotten(
            self._tombstones, when, store=store, take_out=take_out
        )
        await self._announcing.announce(changed)
        return [reason is None and index in new for index, reason in enumerate(reasons)]

    async def selected(self, scope: Scope, selection: Selection, until: datetime) -> list[Entry]:
        """The entries that a selection names or fits, of what was said until then.

        Where a question, a step or an answer does, all of its run goes: each repeats the others. A
        block of a document goes alone.
        """
        runs = {
            _run(entry)
            async for entry in self._store.said(scope, as_text(until))
            if _is_selected(entry, selection)
        }
        if not runs:
            return []
        said = self._store.said(scope, as_text(until))
        return [entry async for entry in said if _run(entry) in runs]

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> list[Entry]:
        """Forget what is selected and what may still come of it; returns what there was."""
        await self._tombstones.add(selection.subjects(scope, "invocation"), at)
        entries = await self.selected(scope, selection, at)
        await self._tombstones.add(
            list(dict.fromkeys(_said(entry).subjects[-1] for entry in entries)), at
        )
        await self.delete(scope, [entry.id for entry in entries])
        await self._forget_memos(scope, selection, as_text(at))
        return entries

    async def _forget_memos(self, scope: Scope, selection: Selection, until: str) -> None:
        """Delete memos that fit a selection though nothing on their pages does."""
        if not selection.containing:
            return
        fitting = [
            memo
            async for memo in self._store.memos.all_of(scope)
            if memo.started_at <= until and selection.fits(memo.text)
        ]
        await self.delete_memos(fitting)

    async def delete_memos(self, memos: Sequence[Memo]) -> None:
        """Delete memos, but not what their pages say, and all that were made with one of them."""
        await self._announcing.announce(await self._removal.delete_memos(memos))

    async def set_memo(self, memo: Memo, replaced: Stale, read: Sequence[SourceState]) -> None:
        """Write a memo of its page, see `ArchiveRemoval.replace_memos`.

        Raises:
            ConflictError: another replica has changed one of the sources.
        """
        await replaced.drop(self._removal.drop)
        await self._removal.replace_memos(memo, replaced, read)
        others = {each.page_id for each in replaced.memos} - {memo.page_id}
        await self._announcing.announce(others)

    async def scopes(self, user: str) -> list[Scope]:
        """The scopes in which a user has an archive."""
        return await self._store.scopes_of(user)

    async def delete(self, scope: Scope, ids: Sequence[str], *, tell: bool = True) -> int:
        """Delete from the index, then from the graph: who repeats it must find there what to do.

        Memos of their pages go as well, and all that were made with one of these.

        Args:
            scope: whose.
            ids: of entries.
            tell: announce the pages that are left without a memo at once.

        Returns:
            How many of the entries there were.
        """
        found = await self._store.by_ids(dict.fromkeys(ids, scope))
        entries = list(found.values())
        await self._index.delete(scope, entries)
        pages = await self._removal.delete(scope, entries)
        if tell:
            await self._announcing.announce(pages)
        return len(entries)


def _run(entry: Entry) -> tuple[str, str]:
    """What an entry is a part of, with its source."""
    return entry.source.id, entry.invocation_id


def _said(entry: Entry) -> Said:
    """By what an entry can be forgotten, alone last."""
    source = entry.source
    if source.is_document:
        return Said(entry.said_at, of_block(source.scope, source.name, entry.invocation_id))
    return said(source.scope, entry.said_at, source.name, entry.invocation_id)


def _is_selected(entry: Entry, selection: Selection) -> bool:
    if selection.everything or selection.fits(entry.text):
        return True
    if entry.source.is_document:
        return entry.source.name == selection.document or entry.id in selection.ids
    if entry.invocation_id in selection.ids:
        return True
    return entry.source.name == selection.conversation_id and (
        not selection.invocation_ids or entry.invocation_id in selection.invocation_ids
    )
