"""The records of all conversations, in the graph.

A batch may hold conversations of several scopes, so its statements find nodes by their id alone;
the id is made from the scope (see `ConversationKey`), which makes it the stricter of the two.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.conversations.earlier import (
    MAX_LINES,
    READ_CHARACTERS,
    Beginning,
    condensed,
)
from fourtier.memory.conversations.records import (
    CONTENT,
    FLAGS,
    STATE,
    ConversationKey,
    ConversationState,
    InvocationRecord,
    characters_of,
    to_run,
    to_summary,
)
from fourtier.memory.retention.opt_outs import opt_outs_of
from fourtier.memory.tombstones.store import tombstones_of
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation
from fourtier.schema.conversations import ConversationMemory, ConversationSummary, GetRunResponse
from fourtier.schema.message import Scope

TOMBSTONES, OPT_OUTS = tombstones_of("Conversation"), opt_outs_of("Conversation")
_NAMES = ("id", "scope", "invocation_id", "sent_at", "considered")
_INVOCATION = dict.fromkeys((*_NAMES, *CONTENT), "STRING")

SCHEMA = GraphSchema(
    nodes=[
        TOMBSTONES,
        OPT_OUTS,
        Node(
            "Conversation",
            dict.fromkeys(("scope", *STATE), "STRING"),
            indexed=("scope", "recorded_at"),
        ),
        Node("Invocation", {**_INVOCATION, **dict.fromkeys(FLAGS, "BOOL")}),
    ],
    relations=[Relation("INVOLVED", "Conversation", "Invocation")],
)

#: What one answer may hold: below the 5 MB of a message on the bus, also where each character takes
#: six bytes as JSON.
MAX_ANSWER_CHARACTERS = 800_000
#: Invocations that are read at a time.
_PAGE = 50


class ConversationStore:
    """Reads and writes conversations.

    Attributes:
        writing: held while a conversation is read in order to write it.

    Appending and deleting read before they write, so writers wait for each other: here by a lock,
    between replicas by the key of the topics. While a replica joins or leaves, two may write to one
    conversation. Both write to its node first, which makes the other one wait; the one that then
    does not find what was there starts again.
    """

    def __init__(self, graph: GraphStore, ttl: timedelta | None = None) -> None:
        """Read no conversations that were last active longer ago than `ttl`."""
        self._graph = graph
        self._ttl = ttl
        self._queries = load_queries("fourtier.memory.conversations")
        self.writing = asyncio.Lock()

    async def append(self, records: Sequence[InvocationRecord], now: datetime) -> set[str]:
        """Add invocations, or replace those with the same id, all in one transaction.

        What is there already as it came leaves its conversation untouched: a repeated message
        neither reopens it nor counts as activity. Returns the ids of those that are new.
        """
        in_order = sorted(records, key=lambda record: record.sent_at)
        latest = {record.id: record for record in in_order}
        async with self.writing:
            return await retry_on_conflict(lambda: self._append(latest, now))

    async def _append(self, latest: Mapping[str, InvocationRecord], now: datetime) -> set[str]:
        """Write what is not there as it came.

        Raises:
            ConflictError: another replica has created or deleted one of the conversations.
        """
        rows = await self._graph.read(None, self._queries["known_invocations"], ids=list(latest))
        known = {str(row["id"]): row for row in rows}
        changed = [
            record
            for record in latest.values()
            if record.id not in known or record.replaces(known[record.id])
        ]
        if not changed:
            return set()
        before = await self._states({record.conversation for record in changed})
        after = _touched(before, changed, as_text(now))
        touched = _rows(after, before, new=False)
        await self._graph.write(
            None,
            *over(self._queries["create"], "conversations", _rows(after, before, new=True)),
            *over(self._queries["touch"], "conversations", touched, all_there=True),
            *over(
                self._queries["add_invocations"],
                "invocations",
                [record.to_row() for record in changed if record.id not in known],
            ),
            *over(
                self._queries["replace_invocations"],
                "invocations",
                [record.to_row() for record in changed if record.id in known],
                all_there=True,
            ),
        )
        return {record.id for record in changed if record.id not in known}

    @property
    def _living_since(self) -> str:
        """Conversations that were last active before have expired; empty where none does."""
        return "" if self._ttl is None else as_text(datetime.now(UTC) - self._ttl)

    async def newest(self, key: ConversationKey, last: int) -> tuple[ConversationMemory, bool]:
        """The newest invocations of a record, and whether there are earlier ones."""
        rows, earlier = await self._read_some(key, "newest", 0, last)
        return _memory(key, rows[::-1]), earlier

    async def run(self, scope: Scope, run_id: str) -> GetRunResponse:
        """A run, or the newest one, with what was considered for it; empty where there is none."""
        rows = await self._graph.read(
            scope, self._queries["run"], run_id=run_id, living_since=self._living_since
        )
        return to_run(rows[0]) if rows else GetRunResponse()

    async def condensed(self, key: ConversationKey, skip: int, characters: int) -> str:
        """A line for each invocation that is older than the newest `skip`; see `earlier`."""
        counted, rows = await asyncio.gather(
            self._graph.read(
                key.scope,
                self._queries["count_invocations"],
                id=key.id,
                living_since=self._living_since,
            ),
            self._graph.read(
                key.scope,
                self._queries["earlier"],
                id=key.id,
                offset=skip,
                limit=MAX_LINES,
                characters=READ_CHARACTERS,
                living_since=self._living_since,
            ),
        )
        beginnings = [
            Beginning(
                parse_time(str(row["said_at"])),
                *(str(row[name]) for name in ("speaker", "query", "summary", "result")),
            )
            for row in rows
        ]
        return condensed(beginnings, int(counted[0]["number"]) - skip, characters)

    async def oldest(
        self, key: ConversationKey, offset: int, limit: int
    ) -> tuple[ConversationMemory, bool]:
        """Invocations of a record, those behind `offset`, and whether there are later ones."""
        rows, later = await self._read_some(key, "oldest", offset, limit)
        return _memory(key, rows), later

    async def _read_some(
        self, key: ConversationKey, query: str, offset: int, limit: int
    ) -> tuple[list[Row], bool]:
        """Rows as far as they fit into one answer, at least one; and whether more follow.

        They are read some at a time, so that no more than those are in memory at once.
        """
        found: list[Row] = []
        room = MAX_ANSWER_CHARACTERS
        while True:
            rows = await self._graph.read(
                key.scope,
                self._queries[query],
                id=key.id,
                offset=offset + len(found),
                limit=min(_PAGE, limit - len(found)) + 1,
                living_since=self._living_since,
            )
            for row in rows[:_PAGE]:
                room -= characters_of(row)
                if len(found) >= limit or (found and room < 0):
                    return found, True
                found.append(row)
            if len(rows) <= _PAGE:
                return found, False

    async def page(
        self, scope: Scope, limit: int, offset: int
    ) -> tuple[list[ConversationSummary], int]:
        """Conversations last touched first, and how many there are in all."""
        since = self._living_since
        rows, counted = await asyncio.gather(
            self._graph.read(
                scope, self._queries["page"], limit=limit, offset=offset, living_since=since
            ),
            self._graph.read(scope, self._queries["count"], living_since=since),
        )
        listed = [
            ConversationSummary(
                conversation_id=str(row["conversation_id"]),
                invocations=int(row["invocations"]),
                started_at=parse_time(str(row["started_at"])),
                updated_at=parse_time(str(row["recorded_at"])),
                ended=row["ended_state"] == row["recorded_at"],
            )
            for row in rows
        ]
        return listed, int(counted[0]["number"])

    async def state(self, key: ConversationKey) -> ConversationState | None:
        """A conversation without what was said in it, or None."""
        return (await self._states({key})).get(key)

    async def due(self, idle_since: datetime, limit: int) -> list[ConversationState]:
        """Conversations of all scopes that the service ends by itself, longest idle first."""
        rows = await self._graph.read(
            None, self._queries["due"], idle_since=as_text(idle_since), limit=limit
        )
        return [ConversationState.from_row(row) for row in rows]

    async def mark_ended(self, ended: Sequence[ConversationState]) -> None:
        """Store the ends; one whose conversation has grown meanwhile is not stored."""
        rows = [state.to_row() for state in ended]
        await self._graph.write(None, *over(self._queries["mark_ended"], "ended", rows))

    async def _states(self, keys: set[ConversationKey]) -> dict[ConversationKey, ConversationState]:
        rows = await self._graph.read(None, self._queries["known"], ids=[key.id for key in keys])
        states = [ConversationState.from_row(row) for row in rows]
        return {state.key: state for state in states}


def _memory(key: ConversationKey, rows: Sequence[Row]) -> ConversationMemory:
    return ConversationMemory(
        conversation_id=key.conversation_id,
        invocations=tuple(map(to_summary, rows)),
        ended=bool(rows) and rows[0]["ended_state"] == rows[0]["recorded_at"],
    )


def _touched(
    before: dict[ConversationKey, ConversationState],
    changed: Sequence[InvocationRecord],
    recorded_at: str,
) -> dict[ConversationKey, ConversationState]:
    """The conversations of new or changed invocations, as they are after that."""
    after: dict[ConversationKey, ConversationState] = {}
    for record in changed:
        key = record.conversation
        state = after.get(key) or before.get(key)
        active_at = max(record.active_at, state.active_at if state else "")
        ended = (state.ended_state, state.ended_at, state.ended_reason) if state else ("", "", "")
        after[key] = ConversationState(key, recorded_at, active_at, *ended)
    return after


def _rows(
    after: dict[ConversationKey, ConversationState],
    before: dict[ConversationKey, ConversationState],
    *,
    new: bool,
) -> list[Row]:
    rows = [state.to_row() for key, state in after.items() if (key not in before) == new]
    return sorted(rows, key=lambda row: str(row["id"]))  # no two wait for each other
