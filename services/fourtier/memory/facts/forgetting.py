"""Deleting facts for good: tombstones first, then the graph, then the index."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.timestamps import as_text
from fourtier.memory.facts.graph import FactGraph, ScopedFact
from fourtier.memory.facts.index import FactIndex
from fourtier.memory.facts.index_sync import IndexSync
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.related_facts import read_related
from fourtier.memory.facts.replacements import replacing, with_named, without
from fourtier.memory.facts.slots import changed_facts, resolve_slots
from fourtier.memory.facts.statements import Stated
from fourtier.memory.tombstones.selection import Selection
from fourtier.memory.tombstones.store import Tombstones
from fourtier.memory.tombstones.subject import Said, Subject, exchange
from fourtier.memory.tombstones.subject import said as said_in
from fourtier.schema.message import Scope

_ALL = 2**31 - 1
#: How many facts are read at a time to look for a text in them.
_PAGE = 1_000


def said(each: ScopedFact) -> Said:
    """When a fact was said, and by what it can be forgotten."""
    fact, scope = each.fact, each.scope
    return said_in(
        scope,
        fact.stated_at,
        fact.source,
        fact.invocation_id,
        _subject(scope, fact.id),
        learned_at=each.learned_at,
    )


def _subject(scope: Scope, fact_id: str) -> Subject:
    return Subject(scope, "fact", (fact_id,))


def _subjects(scope: Scope, facts: Sequence[FactRecord]) -> list[Subject]:
    """By what facts are forgotten, and what else may yet be learned from the same words.

    A model that reads them while they are forgotten may word them anew.
    """
    found = [_subject(scope, fact.id) for fact in facts]
    for fact in facts:
        for each in (fact.last, *fact.earlier):
            found += exchange(scope, each.source, each.invocation_id)
    return found


class FactForgetting:
    """Forgets facts of scopes, beside writers of others."""

    def __init__(
        self, graph: FactGraph, index: FactIndex, sync: IndexSync, tombstones: Tombstones
    ) -> None:
        self._graph = graph
        self._index = index
        self._index_sync = sync
        self._tombstones = tombstones

    async def forget(self, scope: Scope, fact_id: str, at: datetime) -> bool:
        """Forget one fact, also if it only comes later; whether it existed."""
        await self._tombstones.add([_subject(scope, fact_id)], at)
        known = await self._graph.by_ids({fact_id: scope})
        await self._tombstones.add(_subjects(scope, list(known.values())), at)
        return await self.delete(scope, [fact_id], as_text(at)) > 0

    async def forget_scope(self, scope: Scope, at: datetime) -> int:
        """Forget all facts of a scope; returns how many there were."""
        await self._tombstones.add([Subject(scope, "scope")], at)
        number = await self._graph.count_until(scope, as_text(at))
        await retry_on_conflict(lambda: self._graph.forget_scope(scope, as_text(at)))
        await self._index.delete_scope(scope)
        # What was said later stays, and so do its vectors.
        left = await self._graph.page(scope, _ALL, 0, superseded=True)
        await retry_on_conflict(lambda: self._note_again(scope, left))
        ids = [fact.id for fact in left]
        await self._index_sync.bring_in_step(dict.fromkeys(ids, scope))
        await self.delete(scope, ids, as_text(at))
        return number

    async def _note_again(self, scope: Scope, left: Sequence[FactRecord]) -> None:
        """Note which facts those that are left name: the notes of the scope are deleted.

        Raises:
            ConflictError: another writer has changed the scope meanwhile.
        """
        named = with_named({}, ((scope, fact) for fact in left))
        if not named:
            return
        versions = await self._graph.versions([scope])
        noted = await self._graph.replacements.read(named)
        notes = with_named(noted, ((scope, fact) for fact in left))
        statements = self._graph.replacements.statements(notes, before=noted)
        await self._graph.write((), statements, before=(), versions=versions)

    async def selected(
        self, scope: Scope, selection: Selection, until: datetime
    ) -> list[FactRecord]:
        """The facts that a selection names or fits, of what was said until then.

        Where it selects a conversation, facts that were not said anywhere else.
        """
        found = await self._bearing(scope, selection)
        keep = _what_is_left(selection, found.whole, as_text(until))
        return [fact for fact in found.facts.values() if keep(fact) is None]

    async def _bearing(self, scope: Scope, selection: Selection) -> "_Found":
        """The facts that a selection names, fits, or has said in a conversation."""
        whole = await self._graph.by_ids(dict.fromkeys(selection.ids, scope))
        if selection.everything or selection.containing:
            fits = selection.fits if not selection.everything else _any
            whole |= {fact.id: fact for fact in await self._fitting(scope, fits)}
        found = dict(whole)
        if selection.conversation_id:
            said_there = await self._graph.stated_in(scope, selection.conversation_id)
            found |= {fact.id: fact for fact in said_there}
        return _Found(found, frozenset(whole))

    async def _fitting(self, scope: Scope, fits: Callable[[str], bool]) -> list[FactRecord]:
        return [
            fact
            async for fact in self._graph.every(scope, _PAGE)
            if fits(f"{fact.content}\n{fact.quote}")
        ]

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> list[FactRecord]:
        """Forget what is selected and what may still come of it; returns what there was.

        A fact that was also said in another conversation remains, as it was said there.
        """
        await self._tombstones.add(selection.subjects(scope, "fact"), at)
        found = await self._bearing(scope, selection)
        keep = _what_is_left(selection, found.whole, as_text(at))
        gone = [fact for fact in found.facts.values() if keep(fact) is None]
        await self._tombstones.add(_subjects(scope, gone), at)
        if selection.everything:
            await self.forget_scope(scope, at)
        else:
            await self._reduce(scope, list(found.facts), keep)
        return gone

    async def delete(self, scope: Scope, ids: Sequence[str], until: str) -> int:
        """Delete what was said of facts until then; how many existed and do not any more.

        What was said again later stays: it is a new memory.
        """
        return await self.delete_unless_said_again(scope, dict.fromkeys(ids, until))

    async def delete_unless_said_again(self, scope: Scope, until: Mapping[str, str]) -> int:
        """Delete facts as `delete` does, each by its id and with a time of its own."""
        return await self._reduce(
            scope, list(until), lambda fact: fact.without(_said_until(until[fact.id]))
        )

    async def take_back(self, stated: ScopedFact) -> None:
        """Delete one statement of a fact, and the fact if it was the only one."""
        place = stated.fact.last.place
        await self._reduce(
            stated.scope,
            [stated.fact.id],
            lambda fact: fact.without(lambda each: each.place == place),
        )

    async def _reduce(self, scope: Scope, ids: Sequence[str], keep: "Keep") -> int:
        """Delete from facts what `keep` leaves out, and resolve again what the others superseded.

        The vectors learn first what becomes valid again: a search asks the graph whether it is,
        but does not find what the vectors do not take for valid. They lose the facts last, so that
        a repetition after a failure still finds them there.
        """
        if not ids:
            return 0
        known = await retry_on_conflict(lambda: self._write_reduced(scope, ids, keep))
        deleted = await self._index_sync.bring_in_step(dict.fromkeys(ids, scope))
        return max(known, deleted)

    async def _write_reduced(self, scope: Scope, ids: Sequence[str], keep: "Keep") -> int:
        """Write and delete in the graph, and resolve the slots that the facts were in; how many go.

        Raises:
            ConflictError: another writer has changed the scope meanwhile.
        """
        versions = await self._graph.versions([scope])
        known = await self._graph.by_ids(dict.fromkeys(ids, scope))
        retained = {name: keep(fact) for name, fact in known.items()}
        facts = {name: fact for name, fact in known.items() if retained[name] != fact}
        if not facts:
            return 0
        await self._graph.require_versions(versions, {scope})
        affected = {name: ScopedFact(scope, fact) for name, fact in facts.items()}
        gone = [name for name in facts if retained[name] is None]
        reduced = {
            name: ScopedFact(scope, fact) for name in facts if (fact := retained[name]) is not None
        }
        related = await read_related(self._graph, affected, {})
        notes = without(related.notes, gone)
        before = facts | {name: each.fact for name, each in related.facts.items()}
        left = {name: each for name, each in related.facts.items() if name not in gone} | reduced
        by_id = {**related.naming, **{name: each.fact for name, each in left.items()}}
        resolved = resolve_slots(left, replacing({**related.notes, **notes}, by_id))
        await self._index.put(await self._index.stale(resolved))
        try:
            await self._graph.forget(
                scope,
                gone,
                changed_facts(resolved, before),
                self._graph.replacements.statements(notes, before=related.notes),
                versions,
            )
        finally:
            await self._index_sync.bring_in_step({each.fact.id: scope for each in resolved})
        return len(gone)


#: A fact as it is to be; None where it is to go.
Keep = Callable[[FactRecord], FactRecord | None]


@dataclass(frozen=True, slots=True)
class _Found:
    """Facts that a selection bears on; `whole`: those that it selects wherever they were said."""

    facts: Mapping[str, FactRecord]
    whole: frozenset[str]


def _what_is_left(selection: Selection, whole: frozenset[str], until: str) -> Keep:
    """What a selection leaves of a fact."""
    said_until = _said_until(until)

    def is_selected(stated: Stated) -> bool:
        runs = selection.invocation_ids
        return (
            said_until(stated)
            and stated.source == selection.conversation_id
            and (not runs or stated.invocation_id in runs)
        )

    def keep(fact: FactRecord) -> FactRecord | None:
        return fact.without(said_until if fact.id in whole else is_selected)

    return keep


def _said_until(until: str) -> Callable[[Stated], bool]:
    return lambda stated: stated.at <= until


def _any(_text: str) -> bool:
    return True
