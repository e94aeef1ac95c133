"""Which facts supersede others beyond what the rules read, noted under the ids of those.

Whoever has understood two statements can name in a fact's `replaces` the one that it supersedes;
`detection.py` does so too. That one may come later than the fact, in a replay, or come back after
it was deleted: the note waits for it. A note has ids only.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fourtier.engines.graph.queries import load_queries, over
from fourtier.memory.facts.records import FactRecord
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.runtime.service.stores.schemas import Node
from fourtier.schema.message import Scope

NOTES = Node("FactReplacement", dict.fromkeys(("id", "scope", "by"), "STRING"))


@dataclass(frozen=True, slots=True)
class Named:
    """A fact that another one may name: an id counts in its own scope only."""

    scope: Scope
    fact_id: str

    @property
    def key(self) -> str:
        """The id of its note."""
        return f"{self.scope.key}|{self.fact_id}"


#: The ids of the facts that name each of some others.
Notes = Mapping[Named, frozenset[str]]


class Replacements:
    """Reads the notes, and makes the statements that write them."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.facts")

    async def read(self, named: Collection[Named]) -> Notes:
        """What is noted of some facts; nothing of those of which nothing is."""
        if not named:
            return {}
        keys = {each.key: each for each in named}
        rows = await self._graph.read(None, self._queries["replacements"], ids=sorted(keys))
        return {keys[str(row["id"])]: frozenset(json.loads(str(row["by"]))) for row in rows}

    def statements(self, notes: Notes, *, before: Collection[Named]) -> list[Statement]:
        """What writes notes, over those of `before`."""
        rows: dict[Named, Row] = {
            named: {"id": named.key, "scope": named.scope.key, "by": json.dumps(sorted(by))}
            for named, by in notes.items()
        }
        new = [row for named, row in rows.items() if named not in before]
        known = [row for named, row in rows.items() if named in before]
        return [
            *over(self._queries["create_replacements"], "replacements", new),
            *over(self._queries["set_replacements"], "replacements", known),
        ]

    def forget_scope(self) -> Statement:
        """What deletes the notes of a scope."""
        return Statement(self._queries["forget_replacements"])


def with_named(notes: Notes, facts: Iterable[tuple[Scope, FactRecord]]) -> Notes:
    """What the notes are to be when facts are stored; only those that change."""
    more: defaultdict[Named, set[str]] = defaultdict(set)
    for scope, fact in facts:
        for name in fact.names:
            more[Named(scope, name)].add(fact.id)
    return {
        named: notes.get(named, frozenset()) | by
        for named, by in more.items()
        if not by <= notes.get(named, frozenset())
    }


def without(notes: Notes, deleted: Iterable[str]) -> Notes:
    """What the notes are to be when facts are deleted; only those that change."""
    gone = frozenset(deleted)
    return {named: by - gone for named, by in notes.items() if by & gone}


def replacing(notes: Notes, facts: Mapping[str, FactRecord]) -> dict[Named, Sequence[FactRecord]]:
    """Of each fact those that name it, as far as they are there."""
    return {
        named: [facts[each] for each in sorted(by) if each in facts] for named, by in notes.items()
    }
