"""Facts in the graph, which is the truth."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fourtier.engines.graph.protocol import GraphSchema, GraphStore, Node, Row, Statement
from fourtier.engines.graph.queries import load_queries
from fourtier.facts.records import FactRecord
from fourtier.schema.message import Scope

SCHEMA = GraphSchema(
    nodes=[
        Node(
            "Fact",
            dict.fromkeys(("scope", *FactRecord.__slots__), "STRING"),
            indexed=("scope", "slot"),
        )
    ]
)


@dataclass(frozen=True, slots=True)
class Owned:
    """A fact with its scope, where facts of many scopes are at hand."""

    scope: Scope
    fact: FactRecord


class FactGraph:
    """What the service asks of its graph."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.facts")

    async def write(
        self, facts: Iterable[Owned], *, before: Container[str], forget: Owned | None = None
    ) -> None:
        """Write facts and delete one, all in one transaction.

        A fact of `before` was there when it was read. It is not created again: if it is gone, then
        another replica has forgotten it meanwhile.
        """
        statements: list[Statement] = []
        if forget is not None:
            gone = {"id": forget.fact.id, "of": forget.scope.key}
            statements.append(Statement(self._queries["forget"], gone))
        rows: dict[str, Row] = {
            each.fact.id: {"scope": each.scope.key, **each.fact.to_row()} for each in facts
        }
        new = [key for key in rows if key not in before]
        found = await self._graph.read(None, self._queries["known"], ids=new) if new else []
        created = set(new) - {str(row["id"]) for row in found}
        for name, together in (
            ("create", [row for key, row in rows.items() if key in created]),
            ("set", [row for key, row in rows.items() if key not in created]),
        ):
            if together:
                statements.append(Statement(self._queries[name], {"facts": together}))
        if statements:
            await self._graph.write(None, *statements)

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

    async def everything(self, after: str, limit: int) -> list[Owned]:
        """Facts of all scopes in the order of their ids, those behind `after`."""
        rows = await self._graph.read(None, self._queries["everything"], after=after, limit=limit)
        return [Owned(_scope(row), FactRecord.from_row(row)) for row in rows]

    async def number(self) -> int:
        """How many facts all scopes have together."""
        rows = await self._graph.read(None, self._queries["number"])
        return int(rows[0]["number"])

    async def scopes(self, after: str, limit: int) -> list[tuple[Scope, int]]:
        """Scopes with the numbers of their facts, in the order of their keys, behind `after`."""
        rows = await self._graph.read(None, self._queries["scopes"], after=after, limit=limit)
        return [(_scope(row), int(row["number"])) for row in rows]

    async def forget_scope(self, scope: Scope) -> None:
        """Delete all facts of a scope."""
        await self._graph.write(scope, Statement(self._queries["forget_scope"]))


def _scope(row: Row) -> Scope:
    """The scope that a key stands for."""
    key = str(row["scope"])
    length, _, names = key.partition(":")
    return Scope(names[: int(length)], names[int(length) + 1 :])
