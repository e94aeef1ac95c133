"""How often each episode was retrieved, and which scopes have any: what pruning goes by.

Counts are gathered in memory and written to the graph now and then, for they change with every
search. A crash loses those since the last time; they are a hint.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.opt_outs import opt_outs_of
from fourtier.memory.tombstones.store import tombstones_of
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from fourtier.schema.message import Scope

TOMBSTONES, OPT_OUTS = tombstones_of("Episode"), opt_outs_of("Episode")
SCHEMA = GraphSchema(
    nodes=[
        TOMBSTONES,
        OPT_OUTS,
        Node("EpisodeScope", dict.fromkeys(("id", "user", "collection"), "STRING")),
        Node(
            "EpisodeUsage",
            dict.fromkeys(("id", "scope", "episode_id", "last"), "STRING") | {"times": "INT64"},
            indexed=("scope",),
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class Usage:
    """How often an episode was retrieved, and when last; sortable, empty for never."""

    times: int = 0
    last: str = ""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.times + other.times, max(self.last, other.last))


class UsageCounts:
    """Counts retrievals, and knows the scopes."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.episodes")
        self._fresh: defaultdict[Scope, dict[str, Usage]] = defaultdict(dict)

    def note(self, scope: Scope, ids: Sequence[str]) -> None:
        """Count episodes that were retrieved just now."""
        once = Usage(1, as_text(datetime.now(UTC)))
        fresh = self._fresh[scope]
        for each in ids:
            fresh[each] = fresh.get(each, Usage()) + once

    async def write(self, scope: Scope, existing: Sequence[str]) -> None:
        """Write the fresh counts of episodes that exist."""
        fresh = self._fresh.pop(scope, {})
        counted = {each: fresh[each] for each in existing if each in fresh}
        if counted:
            await retry_on_conflict(lambda: self._write(scope, counted))

    async def _write(self, scope: Scope, counted: dict[str, Usage]) -> None:
        """Add to counts.

        Raises:
            ConflictError: another replica has created one of them meanwhile.
        """
        known = await self._stored(scope, list(counted))
        rows: dict[str, Row] = {}
        for each, use in counted.items():
            total = known.get(each, Usage()) + use
            rows[each] = {
                "id": _usage_id(scope, each),
                "scope": scope.key,
                "episode_id": each,
                "times": total.times,
                "last": total.last,
            }
        new = [row for each, row in rows.items() if each not in known]
        old = [row for each, row in rows.items() if each in known]
        await self._graph.write(
            None,
            *over(self._queries["create_usage"], "usage", new),
            *over(self._queries["set_usage"], "usage", old, all_there=True),
        )

    def fresh(self) -> dict[Scope, list[str]]:
        """The episodes with counts that were not yet written."""
        return {scope: list(uses) for scope, uses in self._fresh.items()}

    async def of(self, scope: Scope, ids: Sequence[str]) -> dict[str, Usage]:
        """The usage of episodes, without those that were never retrieved."""
        stored, fresh = await self._stored(scope, ids), self._fresh.get(scope, {})
        return {
            each: stored.get(each, Usage()) + fresh.get(each, Usage())
            for each in ids
            if each in stored or each in fresh
        }

    async def _stored(self, scope: Scope, ids: Sequence[str]) -> dict[str, Usage]:
        if not ids:
            return {}
        names = [_usage_id(scope, each) for each in ids]
        rows = await self._graph.read(scope, self._queries["usage"], ids=names)
        return {str(row["episode_id"]): Usage(int(row["times"]), str(row["last"])) for row in rows}

    async def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        """Drop the counts of episodes that are gone."""
        for each in ids:
            self._fresh.get(scope, {}).pop(each, None)
        if ids:
            names = [_usage_id(scope, each) for each in ids]
            await self._graph.write(scope, Statement(self._queries["delete_usage"], {"ids": names}))

    async def forget_scope(self, scope: Scope) -> None:
        """Drop a scope and all its counts."""
        self._fresh.pop(scope, None)
        names = ("delete_usage_of_scope", "delete_scope")
        await self._graph.write(scope, *(Statement(self._queries[name]) for name in names))

    async def add_scope(self, scope: Scope) -> None:
        """Remember that a scope has episodes."""
        await retry_on_conflict(lambda: self._add_scope(scope))

    async def _add_scope(self, scope: Scope) -> None:
        """Write a scope that is not there.

        Raises:
            ConflictError: another replica has created it meanwhile.
        """
        if not await self._graph.read(scope, self._queries["scope"]):
            names = {"user": scope.user, "collection": scope.collection}
            await self._graph.write(scope, Statement(self._queries["create_scope"], names))

    async def scopes(self) -> list[Scope]:
        """All scopes that have episodes, or had some."""
        rows = await self._graph.read(None, self._queries["scopes"])
        return [Scope(str(row["user"]), str(row["collection"])) for row in rows]


def _usage_id(scope: Scope, episode_id: str) -> str:
    return f"{scope.key}/{episode_id}"
