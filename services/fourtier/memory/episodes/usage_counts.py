"""How often each episode was retrieved, and which scopes have any: what pruning goes by.

It stands in a small vector collection of its own, whose vectors mean nothing: counts change with
every search, and writing them to the episodes would mean to embed those again. Counts are gathered
in memory and written now and then. A crash loses those since the last time; they are a hint.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fourtier.engines.timestamps import as_text
from fourtier.engines.vectors.protocol import Payload, Point, VectorStore
from fourtier.runtime.service.stores import Collection
from fourtier.schema.message import Scope, Vector

DIMENSIONS = 1
COLLECTION = Collection("episode-uses", dimensions=DIMENSIONS)
_NO_MEANING = Vector.of([1.0])
#: The list of scopes is a scope too; no message can name it, for a user's name is never empty.
_SCOPES = Scope("", "scopes")
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Usage:
    """How often an episode was retrieved, and when last; sortable, empty for never."""

    times: int = 0
    last: str = ""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.times + other.times, max(self.last, other.last))

    def to_payload(self) -> Payload:
        """For the store."""
        return {"times": str(self.times), "last": self.last}

    @classmethod
    def from_payload(cls, payload: Payload) -> "Usage":
        """From the store."""
        return cls(int(payload["times"]), payload["last"])


class UsageCounts:
    """Counts retrievals, and knows the scopes."""

    def __init__(self, vectors: VectorStore) -> None:
        self._vectors = vectors
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
        counted = [each for each in existing if each in fresh]
        known = await self._stored(scope, counted)
        total = {each: known.get(each, Usage()) + fresh[each] for each in counted}
        await self._vectors.upsert(
            scope,
            [Point(each, _NO_MEANING, "", use.to_payload()) for each, use in total.items()],
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
        hits = await self._vectors.get(scope, ids)
        return {hit.id: Usage.from_payload(hit.payload) for hit in hits}

    async def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        """Drop the counts of episodes that are gone."""
        for each in ids:
            self._fresh.get(scope, {}).pop(each, None)
        await self._vectors.delete(scope, ids)

    async def forget_scope(self, scope: Scope) -> None:
        """Drop a scope and all its counts."""
        self._fresh.pop(scope, None)
        await self._vectors.delete_scope(scope)
        await self._vectors.delete(_SCOPES, [scope.key])

    async def add_scope(self, scope: Scope) -> None:
        """Remember that a scope has episodes."""
        payload = {"user": scope.user, "collection": scope.collection}
        await self._vectors.upsert(_SCOPES, [Point(scope.key, _NO_MEANING, "", payload)])

    async def scopes(self) -> list[Scope]:
        """All scopes that have episodes, or had some."""
        found: list[Scope] = []
        after: str | None = None
        while page := await self._vectors.scroll(_SCOPES, _PAGE, after):
            found += [Scope(hit.payload["user"], hit.payload["collection"]) for hit in page]
            after = page[-1].id
        return found
