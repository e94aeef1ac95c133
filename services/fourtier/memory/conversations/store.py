"""The records of all conversations, in the graph.

A batch may hold conversations of several scopes, so its statements find nodes by their id alone;
the id is made from the scope (see `ConversationKey`), which makes it the stricter of the two.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.protocol import GraphStore, Row, Statement
from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_moment, as_text
from fourtier.memory.conversations.records import (
    CONTENT,
    STATE,
    ConversationKey,
    ConversationState,
    InvocationRecord,
    to_summary,
)
from fourtier.runtime.service.stores import GraphSchema, Node, Relation
from fourtier.schema.conversations import ConversationMemory, ConversationSummary
from fourtier.schema.message import Scope

SCHEMA = GraphSchema(
    nodes=[
        Node(
            "Conversation",
            dict.fromkeys(("scope", *STATE), "STRING"),
            indexed=("scope", "recorded_at"),
        ),
        Node("Invocation", dict.fromkeys(("id", "scope", "invocation_id", *CONTENT), "STRING")),
    ],
    relations=[Relation("INVOLVED", "Conversation", "Invocation")],
)

_ALL = 2**31 - 1


class ConversationStore:
    """Reads and writes conversations.

    Appending and deleting read before they write, so writers wait for each other: here by a lock,
    between replicas by the key of the topics. While a replica joins or leaves, two may be at one
    conversation. Both write to its node first, which keeps the other one waiting; who then does not
    find what was there begins anew.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._queries = load_queries("fourtier.memory.conversations")
        self._writing = asyncio.Lock()

    async def append(self, records: Sequence[InvocationRecord], now: datetime) -> None:
        """Add invocations, or replace those with the same id, all in one transaction.

        What is there already as it came leaves its conversation untouched: neither its end nor its
        idleness begins anew because a message was repeated.
        """
        latest = {record.id: record for record in records}
        async with self._writing:
            await retry_on_conflict(lambda: self._append(latest, now))

    async def _append(self, latest: Mapping[str, InvocationRecord], now: datetime) -> None:
        """Write what is not there as it came.

        Raises:
            ConflictError: another replica has created or deleted one of the conversations.
        """
        rows = await self._graph.read(None, self._queries["known_invocations"], ids=list(latest))
        known = {str(row["id"]): row for row in rows}
        changed = [
            record
            for record in latest.values()
            if record.id not in known or not record.equals(known[record.id])
        ]
        if not changed:
            return
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

    async def get(self, key: ConversationKey, last: int | None) -> ConversationMemory:
        """The record, oldest invocation first, or the newest `last` of it."""
        rows = await self._graph.read(
            key.scope, self._queries["record"], id=key.id, last=last or _ALL
        )
        return ConversationMemory(
            conversation_id=key.conversation_id,
            invocations=tuple(to_summary(row) for row in reversed(rows)),
            ended=bool(rows) and rows[0]["ended_state"] == rows[0]["recorded_at"],
        )

    async def page(
        self, scope: Scope, limit: int, offset: int
    ) -> tuple[list[ConversationSummary], int]:
        """Conversations last touched first, and how many there are in all."""
        rows, counted = await asyncio.gather(
            self._graph.read(scope, self._queries["page"], limit=limit, offset=offset),
            self._graph.read(scope, self._queries["count"]),
        )
        listed = [
            ConversationSummary(
                conversation_id=str(row["conversation_id"]),
                invocations=int(row["invocations"]),
                started_at=as_moment(str(row["started_at"])),
                updated_at=as_moment(str(row["recorded_at"])),
                ended=row["ended_state"] == row["recorded_at"],
            )
            for row in rows
        ]
        return listed, int(counted[0]["number"])

    async def delete(self, key: ConversationKey) -> bool:
        """Delete a conversation and all in it; whether there was one."""
        async with self._writing:
            return await retry_on_conflict(lambda: self._delete(key))

    async def _delete(self, key: ConversationKey) -> bool:
        """Delete a conversation as it is when nobody else is at it.

        Raises:
            ConflictError: another replica has deleted it meanwhile.
        """
        if await self.state(key) is None:
            return False
        await self._graph.write(
            key.scope,
            Statement(self._queries["hold"], {"id": key.id}, rows=1),
            Statement(self._queries["delete_invocations"], {"id": key.id}),
            Statement(self._queries["delete"], {"id": key.id}),
        )
        return True

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
        """Keep the ends; one whose conversation has grown meanwhile is not kept."""
        rows = [state.to_row() for state in ended]
        await self._graph.write(None, *over(self._queries["mark_ended"], "ended", rows))

    async def _states(self, keys: set[ConversationKey]) -> dict[ConversationKey, ConversationState]:
        rows = await self._graph.read(None, self._queries["known"], ids=[key.id for key in keys])
        states = [ConversationState.from_row(row) for row in rows]
        return {state.key: state for state in states}


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
