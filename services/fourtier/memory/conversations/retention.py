"""How many conversations a scope may have, how long each may be, and how long they are stored.

A conversation is as old as the last run or turn in it, by when that happened: one that is evicted
and comes again by a replay is as old as before. The exchanges of a conversation that is too long go
in the order in which they were said.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from fourtier.engines.graph.queries import load_queries
from fourtier.memory.conversations.forgetting import Forgetting
from fourtier.memory.conversations.records import ConversationKey, InvocationRecord
from fourtier.memory.retention.metrics import count_not_stored, count_removed
from fourtier.memory.retention.policy import Retention
from fourtier.memory.retention.scopes import rows_by_scope
from fourtier.memory.retention.storing import Candidate, store_retained
from fourtier.runtime.errors import QuotaExceededError
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.schema.message import NotStored, Scope

#: Conversations that are read at a time.
_CONVERSATIONS = 50


class Length(NamedTuple):
    """How many exchanges a conversation has, and when the oldest was said."""

    number: int
    oldest: str


class ConversationMemories:
    """The conversations of all scopes, as the retention policy sees them."""

    def __init__(self, graph: GraphStore, forgetting: Forgetting) -> None:
        self._graph = graph
        self._forgetting = forgetting
        self._queries = load_queries("fourtier.memory.conversations", "retention.cypher")

    async def count(self, scope: Scope) -> int:
        """How many conversations a scope has."""
        rows = await self._graph.read(scope, self._queries["count"])
        return int(rows[0]["number"])

    async def active(self, keys: Iterable[ConversationKey]) -> dict[str, str]:
        """When each of some conversations was last active, by its id, of those that are stored."""
        ids = sorted({key.id for key in keys})
        rows = await self._graph.read(None, self._queries["known"], ids=ids)
        return {str(row["id"]): str(row["active_at"]) for row in rows}

    async def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:
        """Scopes with conversations that were last active until then."""
        async for row in rows_by_scope(self._graph, self._queries["scopes_until"], until=before):
            yield _scope(row)

    async def delete_expired(self, scope: Scope, before: str) -> int:
        """Delete the conversations of a scope that were last active until then."""
        deleted = 0
        while rows := await self._graph.read(
            scope, self._queries["until"], until=before, limit=_CONVERSATIONS
        ):
            if not await self._delete(scope, [str(row["id"]) for row in rows]):
                break
            deleted += len(rows)
        return deleted

    async def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        """Scopes with more conversations than that."""
        async for row in rows_by_scope(self._graph, self._queries["numbers"]):
            if int(row["number"]) > maximum:
                yield _scope(row)

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        """Delete those that were last active longest ago."""
        gone: list[str] = []
        while len(gone) < number:
            limit = min(number - len(gone), _CONVERSATIONS)
            rows = await self._graph.read(scope, self._queries["oldest"], limit=limit)
            ids = [str(row["id"]) for row in rows]
            if not await self._delete(scope, ids):
                break
            gone += ids
        return gone

    async def _delete(self, scope: Scope, ids: Sequence[str]) -> int:
        """Delete what was said in conversations until now; how many exchanges there were."""
        rows = await self._graph.read(scope, self._queries["exchanges"], ids=ids)
        exchanges = {str(row["id"]): str(row["conversation"]) for row in rows}
        await self._forgetting.delete(scope, exchanges)
        return len(exchanges)

    async def lengths(self, keys: Iterable[ConversationKey]) -> dict[str, Length]:
        """How long some conversations are, by their ids, of those that are stored."""
        ids = sorted({key.id for key in keys})
        rows = await self._graph.read(None, self._queries["lengths"], ids=ids)
        return {str(row["id"]): Length(int(row["number"]), str(row["oldest"])) for row in rows}

    async def known_exchanges(self, records: Sequence[InvocationRecord]) -> set[str]:
        """The ids of those that are stored."""
        ids = sorted({record.id for record in records})
        rows = await self._graph.read(None, self._queries["known_exchanges"], ids=ids)
        return {str(row["id"]) for row in rows}

    async def shorten(self, key: ConversationKey, number: int) -> None:
        """Delete so many exchanges of a conversation, those that were said first."""
        rows = await self._graph.read(key.scope, self._queries["first"], id=key.id, limit=number)
        await self._forgetting.delete(key.scope, {str(row["id"]): key.id for row in rows})


class RetainedConversations:
    """Records what was said as the flow's retention wants it.

    Args:
        max_invocations: of one conversation; None for no limit.
    """

    def __init__(
        self,
        forgetting: Forgetting,
        memories: ConversationMemories,
        retention: Retention,
        max_invocations: int | None,
    ) -> None:
        self._forgetting = forgetting
        self._memories = memories
        self._retention = retention
        self._max_invocations = max_invocations

    async def append(
        self, records: Sequence[InvocationRecord], now: datetime
    ) -> list[NotStored | None]:
        """Add invocations as `Forgetting.append`, and make room for them; why one is not stored.

        Raises:
            QuotaExceededError: a scope or a conversation is full, and nothing is evicted.
        """
        keys = {record.conversation for record in records}
        active = await self._memories.active(keys) if self._retention.is_limited else {}
        reasons: dict[int, NotStored | None] = {}

        async def store(indices: Sequence[int]) -> list[bool]:
            some = [records[index] for index in indices]
            reasons.update(zip(indices, await self._append(some, now), strict=True))
            new = {
                records[index].conversation.id: index
                for index in indices
                if reasons[index] is None and records[index].conversation.id not in active
            }
            return [index in new.values() for index in indices]

        async def known() -> Collection[str]:
            return await self._memories.active(keys)

        candidates = [_candidate(record, active) for record in records]
        late = await store_retained(self._retention, candidates, known=known, store=store)
        return [reason or reasons[index] for index, reason in enumerate(late)]

    async def _append(
        self, records: Sequence[InvocationRecord], now: datetime
    ) -> list[NotStored | None]:
        """Add invocations, and keep their conversations within their length."""
        if self._max_invocations is None:
            return await self._forgetting.append(records, now)
        early = await self._too_early(records, self._max_invocations)
        fresh = [record for record in records if record.id not in early]
        stored = iter(await self._forgetting.append(fresh, now) if fresh else ())
        await self._shorten({record.conversation for record in fresh}, self._max_invocations)
        return ["evicted" if record.id in early else next(stored) for record in records]

    async def _too_early(self, records: Sequence[InvocationRecord], maximum: int) -> set[str]:
        """New exchanges that were said before the oldest of a conversation that is full.

        They would go at once, and their conversation would be reopened by them.

        Raises:
            QuotaExceededError: a conversation is full, and nothing is evicted.
        """
        lengths = await self._memories.lengths({record.conversation for record in records})
        in_full = [
            record
            for record in records
            if lengths.get(record.conversation.id, Length(0, "")).number >= maximum
        ]
        if not in_full:
            return set()
        known = await self._memories.known_exchanges(in_full)
        new = [record for record in in_full if record.id not in known]
        if new and not self._retention.evicts:
            count_not_stored("exchange", "quota", len(new))
            raise QuotaExceededError(
                f"not stored: the conversation is full, it has the {maximum} exchanges that it may "
                f"have. Go on in another one, or let the flow set a higher `max-invocations`, or a "
                f"`when-full` that evicts"
            )
        return {
            record.id for record in new if record.said_at < lengths[record.conversation.id].oldest
        }

    async def _shorten(self, keys: set[ConversationKey], maximum: int) -> None:
        if not self._retention.evicts:
            return
        lengths = await self._memories.lengths(keys)
        for key in keys:
            excess = lengths.get(key.id, Length(0, "")).number - maximum
            if excess > 0:
                await self._memories.shorten(key, excess)
                count_removed("exchange", "evicted", excess)


def _candidate(record: InvocationRecord, active: Mapping[str, str]) -> Candidate:
    """A conversation as an exchange makes it: one that comes late does not make it older."""
    key = record.conversation
    return Candidate(key.scope, key.id, max(record.active_at, active.get(key.id, "")))


def _scope(row: Row) -> Scope:
    return Scope(str(row["user"]), str(row["collection"]))
