"""Facts in the graph, which is the truth."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fourtier.engines.graph.protocol import GraphStore, Row, Statement
from fourtier.engines.graph.queries import load_queries, over
from fourtier.memory.facts.records import FactRecord
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores import GraphSchema, Node
from fourtier.schema.message import Scope

SCHEMA = GraphSchema(
    nodes=[
        Node(
            "Fact",
            dict.fromkeys(("scope", *FactRecord.__slots__), "STRING"),
            indexed=("scope", "slot"),
        ),
        Node("FactVersion", dict.fromkeys(("id", "version", "claimed_for"), "STRING")),
    ]
)

#: Of the facts of each of some scopes; empty where there are none yet. Every write gives them
#: another, so that whoever has read before it and writes after it notices.
Versions = Mapping[Scope, str]


@dataclass(frozen=True, slots=True)
class ScopedFact:
    """A fact with its scope, where facts of many scopes are at hand."""

    scope: Scope
    fact: FactRecord


class FactGraph:
    """What the service asks of its graph."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.facts")

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
        await self._graph.write(None, *self._claims(dict.fromkeys(scopes, "")))

    async def write(
        self, facts: Iterable[ScopedFact], *, before: Container[str], versions: Versions
    ) -> None:
        """Write facts in one transaction; those of `before` were there already.

        Raises:
            ConflictError: the facts of a scope have another version by now.
        """
        await self._graph.write(None, *self._claims(versions), *self._writes(facts, before))

    async def forget(
        self, scope: Scope, fact_id: str, changed: Sequence[ScopedFact], versions: Versions
    ) -> None:
        """Delete a fact and write those that are changed by that, in one transaction.

        Raises:
            ConflictError: as `write`.
        """
        of = {"scope": scope.key}
        statements = [
            *self._claims(versions),
            Statement(self._queries["forget"], {**of, "id": fact_id}),
            *self._writes(changed, {each.fact.id for each in changed}),
        ]
        if len(await self._graph.read(scope, self._queries["some"])) == 1:
            statements.append(Statement(self._queries["end_version"], of))
        await self._graph.write(None, *statements)

    def _claims(self, versions: Versions) -> Iterator[Statement]:
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
        return await self._read("by_ids", wanted, ids=list(wanted))

    async def by_slots(self, wanted: Mapping[str, Scope]) -> dict[str, FactRecord]:
        """All facts of slots, each in its scope."""
        return await self._read("by_slots", wanted, slots=list(wanted))

    async def _read(
        self, query: str, wanted: Mapping[str, Scope], **names: Sequence[str]
    ) -> dict[str, FactRecord]:
        if not wanted:
            return {}
        scopes = sorted({scope.key for scope in wanted.values()})
        rows = await self._graph.read(None, self._queries[query], scopes=scopes, **names)
        return {record.id: record for record in map(FactRecord.from_row, rows)}

    async def page(
        self, scope: Scope, limit: int, offset: int, *, superseded: bool
    ) -> list[FactRecord]:
        """Facts of a scope, the last stated first."""
        rows = await self._graph.read(
            scope, self._queries["page"], limit=limit, offset=offset, superseded=superseded
        )
        return [FactRecord.from_row(row) for row in rows]

    async def count(self, scope: Scope, *, superseded: bool) -> int:
        """How many facts a scope has."""
        rows = await self._graph.read(scope, self._queries["count"], superseded=superseded)
        return int(rows[0]["number"])

    async def everything(self, after: str, limit: int) -> list[ScopedFact]:
        """Facts of all scopes in the order of their ids, those behind `after`."""
        rows = await self._graph.read(None, self._queries["everything"], after=after, limit=limit)
        return [ScopedFact(_scope(row), FactRecord.from_row(row)) for row in rows]

    async def number(self) -> int:
        """How many facts all scopes have in sum."""
        rows = await self._graph.read(None, self._queries["number"])
        return int(rows[0]["number"])

    async def scopes(self, after: str, limit: int) -> list[tuple[Scope, int]]:
        """Scopes with the numbers of their facts, in the order of their keys, behind `after`."""
        rows = await self._graph.read(None, self._queries["scopes"], after=after, limit=limit)
        return [(_scope(row), int(row["number"])) for row in rows]

    async def forget_scope(self, scope: Scope) -> None:
        """Delete all facts of a scope; whoever is about to write others notices."""
        names = ("end_version", "forget_scope")
        await self._graph.write(scope, *(Statement(self._queries[name]) for name in names))


def _scope(row: Row) -> Scope:
    """The scope that a key stands for."""
    key = str(row["scope"])
    length, _, names = key.partition(":")
    return Scope(names[: int(length)], names[int(length) + 1 :])
