"""Facts in the graph, which is the truth."""

from collections.abc import (
    AsyncIterator,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass

from fourtier.engines.graph.queries import load_queries, over
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.replacements import NOTES, Replacements
from fourtier.memory.facts.statements import in_text
from fourtier.memory.retention.opt_outs import opt_outs_of
from fourtier.memory.tombstones.store import tombstones_of
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import ConflictError, GraphStore, Row, Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from fourtier.schema.message import Scope

TOMBSTONES, OPT_OUTS = tombstones_of("Fact"), opt_outs_of("Fact")
SCHEMA = GraphSchema(
    nodes=[
        Node(
            "Fact",
            dict.fromkeys(("scope", *FactRecord.__slots__), "STRING"),
            indexed=("scope", "slot"),
        ),
        TOMBSTONES,
        NOTES,
        OPT_OUTS,
        Node("FactVersion", dict.fromkeys(("id", "version", "written_for"), "STRING")),
    ],
    index="facts",
)

#: Of the facts of each of some scopes; empty where there are none yet. Every write gives them
#: another, so that whoever has read before it and writes after it notices.
Versions = Mapping[Scope, str]


@dataclass(frozen=True, slots=True)
class ScopedFact:
    """A fact with its scope, where facts of many scopes are at hand.

    Attributes:
        learned_at: of one that is stated, see `StoreFactRequest`; empty where nothing says it.
    """

    scope: Scope
    fact: FactRecord
    learned_at: str = ""


class FactGraph:
    """What the service asks of its graph."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.facts")
        self.replacements = Replacements(graph)

    async def versions(self, scopes: Iterable[Scope]) -> Versions:
        """The versions of scopes; read them before what a write is to build on."""
        keys = {scope.key: scope for scope in scopes}
        rows = await self._graph.read(None, self._queries["versions"], scopes=sorted(keys))
        found = {keys[str(row["id"])]: str(row["version"]) for row in rows}
        return {scope: found.get(scope, "") for scope in keys.values()}

    async def begin_versions(self, scopes: Iterable[Scope]) -> None:
        """Give a version to scopes that have facts and were seen to have none.

        The facts are of an older release, or came when the version had been read. Without one of
        their own, a writer could not tell that others are gone by now.

        Raises:
            ConflictError: one of them has got a version by now.
        """
        await self._graph.write(None, *self._version_writes(dict.fromkeys(scopes, "")))

    async def require_versions(self, versions: Versions, scopes: Iterable[Scope]) -> None:
        """See that scopes that have facts have a version.

        Raises:
            ConflictError: one has none, and got one now.
        """
        if without := {scope for scope in scopes if not versions[scope]}:
            await self.begin_versions(without)
            raise ConflictError("there were facts without a version")

    async def write(
        self,
        facts: Iterable[ScopedFact],
        notes: Sequence[Statement],
        *,
        before: Container[str],
        versions: Versions,
    ) -> None:
        """Write facts and notes in one transaction; facts of `before` were there already.

        Raises:
            ConflictError: the facts of a scope have another version by now.
        """
        await self._graph.write(
            None, *self._version_writes(versions), *self._writes(facts, before), *notes
        )

    async def forget(
        self,
        scope: Scope,
        ids: Sequence[str],
        changed: Sequence[ScopedFact],
        notes: Sequence[Statement],
        versions: Versions,
    ) -> None:
        """Delete facts and write facts and notes that are changed by that, in one transaction.

        Raises:
            ConflictError: as `write`.
        """
        of = {"scope": scope.key}
        statements = [
            *self._version_writes(versions),
            *(Statement(self._queries["forget"], {**of, "id": each}) for each in ids),
            *self._writes(changed, {each.fact.id for each in changed}),
            *notes,
        ]
        left = await self._graph.read(scope, self._queries["some"], limit=len(ids) + 1)
        if {str(row["id"]) for row in left} <= set(ids):
            statements.append(Statement(self._queries["end_version"], of))
        await self._graph.write(None, *statements)

    def _version_writes(self, versions: Versions) -> Iterator[Statement]:
        """What gives scopes their next versions, in the same order whoever writes."""
        following = new_id()
        rows: list[Row] = [
            {"id": scope.key, "version": versions[scope], "next": following}
            for scope in sorted(versions, key=lambda each: each.key)
        ]
        known = [row for row in rows if row["version"]]
        new = [row for row in rows if not row["version"]]
        yield from over(self._queries["next_versions"], "versions", known, all_there=True)
        yield from over(self._queries["begin_versions"], "versions", new)

    def _writes(self, facts: Iterable[ScopedFact], before: Container[str]) -> Iterator[Statement]:
        rows: dict[str, Row] = {
            each.fact.id: {"scope": each.scope.key, **each.fact.to_row()} for each in facts
        }
        new = [row for key, row in rows.items() if key not in before]
        known = [row for key, row in rows.items() if key in before]
        yield from over(self._queries["create"], "facts", new)
        yield from over(self._queries["set"], "facts", known)

    async def by_ids(self, wanted: Mapping[str, Scope]) -> dict[str, FactRecord]:
        """Facts by their ids, each in its scope."""
        found = await self.find({name: [scope] for name, scope in wanted.items()})
        return {name: each.fact for name, each in found.items() if each.scope == wanted[name]}

    async def find(self, wanted: Mapping[str, Collection[Scope]]) -> dict[str, ScopedFact]:
        """Facts by their ids, of which each may be in one of some scopes, with those they are in.

        Any of the scopes that are asked for, so whoever gives an id that came from outside must
        compare the scope.
        """
        if not wanted:
            return {}
        keys = {scope.key: scope for scopes in wanted.values() for scope in scopes}
        rows = await self._graph.read(
            None, self._queries["by_ids"], ids=list(wanted), scopes=sorted(keys)
        )
        return {
            str(row["id"]): ScopedFact(keys[str(row["scope"])], FactRecord.from_row(row))
            for row in rows
        }

    async def by_slots(self, wanted: Mapping[str, Scope]) -> dict[str, FactRecord]:
        """All facts of slots, each in its scope."""
        if not wanted:
            return {}
        scopes = sorted({scope.key for scope in wanted.values()})
        rows = await self._graph.read(
            None, self._queries["by_slots"], slots=list(wanted), scopes=scopes
        )
        return {record.id: record for record in map(FactRecord.from_row, rows)}

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> list[FactRecord]:
        """Facts of a scope, the last stated first."""
        rows = await self._graph.read(
            scope, self._queries["page"], limit=limit, offset=offset, superseded=superseded
        )
        return [FactRecord.from_row(row) for row in rows]

    async def every(self, scope: Scope, page: int) -> AsyncIterator[FactRecord]:
        """All facts of a scope, superseded ones too, read so many at a time."""
        offset = 0
        while facts := await self.page(scope, page, offset, superseded=True):
            for fact in facts:
                yield fact
            offset += len(facts)

    async def stated_in(self, scope: Scope, conversation_id: str) -> list[FactRecord]:
        """Facts that were stated in a conversation, the last time or before; maybe some others."""
        rows = await self._graph.read(
            scope,
            self._queries["by_source"],
            source=conversation_id,
            in_text=in_text(conversation_id),
        )
        return [FactRecord.from_row(row) for row in rows]

    async def count(self, scope: Scope, *, superseded: bool) -> int:
        """How many facts a scope has."""
        rows = await self._graph.read(scope, self._queries["count"], superseded=superseded)
        return int(rows[0]["number"])

    async def count_until(self, scope: Scope, until: str) -> int:
        """How many facts of a scope were stated last until a time."""
        rows = await self._graph.read(scope, self._queries["count_until"], until=until)
        return int(rows[0]["number"])

    async def everything(self, after: str, limit: int) -> list[ScopedFact]:
        """Facts of all scopes in the order of their ids, those behind `after`."""
        rows = await self._graph.read(None, self._queries["everything"], after=after, limit=limit)
        return [
            ScopedFact(Scope.of_key(str(row["scope"])), FactRecord.from_row(row)) for row in rows
        ]

    async def uncompared(self, limit: int) -> dict[str, Scope]:
        """Facts of any scopes that no model has compared yet, by their ids."""
        rows = await self._graph.read(None, self._queries["uncompared"], limit=limit)
        return {str(row["id"]): Scope.of_key(str(row["scope"])) for row in rows}

    async def number(self) -> int:
        """How many facts all scopes have in sum."""
        rows = await self._graph.read(None, self._queries["number"])
        return int(rows[0]["number"])

    async def scopes(self, after: str, limit: int) -> list[tuple[Scope, int]]:
        """Scopes with the numbers of their facts, in the order of their keys, behind `after`."""
        rows = await self._graph.read(None, self._queries["scopes"], after=after, limit=limit)
        return [(Scope.of_key(str(row["scope"])), int(row["number"])) for row in rows]

    async def forget_scope(self, scope: Scope, until: str) -> None:
        """Delete what was stated until then; whoever is about to write to the scope notices."""
        await self._graph.write(
            scope,
            Statement(self._queries["end_version"]),
            Statement(self._queries["forget_scope"], {"until": until}),
            self.replacements.forget_scope(),
        )
