"""Recording only what was not forgotten, and deleting what was said for good."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text
from fourtier.memory.conversations.records import InvocationRecord, in_prompt
from fourtier.memory.conversations.store import TOMBSTONES, ConversationStore
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.tombstones.selection import Selection
from fourtier.memory.tombstones.store import Tombstones, store_unless_forgotten
from fourtier.memory.tombstones.subject import Said, Subject, said
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.schema.message import NotStored, Scope

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Exchange:
    """An invocation that is selected.

    Attributes:
        id: its name among the invocations of all conversations.
        conversation: the name of its conversation among those of all scopes.
        considered: what was found for its prompt, as JSON text.
    """

    id: str
    conversation: str
    conversation_id: str
    invocation_id: str
    content: str
    considered: str = ""


class Forgetting:
    """Forgets conversations, or invocations of them, beside writers of others."""

    def __init__(
        self, store: ConversationStore, graph: GraphStore, opt_outs: OptOuts | None = None
    ) -> None:
        self._store = store
        self._graph = graph
        self._queries = load_queries("fourtier.memory.conversations", "forgetting.cypher")
        self._tombstones = Tombstones(graph, TOMBSTONES, opt_outs)

    async def append(
        self, records: Sequence[InvocationRecord], now: datetime
    ) -> list[NotStored | None]:
        """Add the invocations that were not forgotten; of each why it is not stored."""

        async def store(indices: Sequence[int]) -> list[int]:
            new = await self._store.append([records[index] for index in indices], now)
            return [index for index in indices if records[index].id in new]

        async def take_out(indices: Sequence[int]) -> None:
            for record in (records[index] for index in indices):
                await self._delete(record.conversation.scope, [_exchange(record)])

        when = [_said(record) for record in records]
        return await store_unless_forgotten(self._tombstones, when, store=store, take_out=take_out)

    async def selected(self, scope: Scope, selection: Selection, until: datetime) -> list[Exchange]:
        """The invocations that a selection names or fits, of what was said until then."""
        return [
            each async for each in self._exchanges(scope, until) if _is_selected(each, selection)
        ]

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> list[Exchange]:
        """Forget what is selected and what may still come of it; returns what there was."""
        await self._tombstones.add(selection.subjects(scope, "invocation"), at)
        exchanges = await self.selected(scope, selection, at)
        await self._tombstones.add(
            [
                Subject(scope, "invocation", (each.conversation_id, each.invocation_id))
                for each in exchanges
            ],
            at,
        )
        await self._delete(scope, exchanges)
        return exchanges

    async def scopes(self, user: str) -> list[Scope]:
        """The scopes in which a user has conversations."""
        rows = await self._graph.read(None, self._queries["collections"], user=user)
        return [Scope(user, str(row["collection"])) for row in rows]

    async def _exchanges(self, scope: Scope, until: datetime) -> AsyncIterator[Exchange]:
        """What was said in a scope until then, read some at a time."""
        after = ""
        while rows := await self._graph.read(
            scope, self._queries["exchanges"], until=as_text(until), after=after, limit=_PAGE
        ):
            for row in rows:
                yield _from_row(row)
            after = str(rows[-1]["id"])

    async def _delete(self, scope: Scope, exchanges: Sequence[Exchange]) -> None:
        await self.delete(scope, {each.id: each.conversation for each in exchanges})

    async def delete(self, scope: Scope, exchanges: Mapping[str, str]) -> None:
        """Delete invocations, and conversations that have none any more.

        Args:
            scope: of all of them.
            exchanges: the names of invocations and of their conversations, among those of all
                scopes.
        """
        if not exchanges:
            return
        gone: list[Row] = [{"id": each} for each in exchanges]
        conversations: list[Row] = [{"id": each} for each in sorted(set(exchanges.values()))]
        async with self._store.writing:
            await self._graph.write(
                None,
                *over(self._queries["hold"], "conversations", conversations),
                *over(self._queries["delete_exchanges"], "gone", gone),
            )
            left = await self._graph.read(
                scope,
                self._queries["left"],
                conversations=[str(row["id"]) for row in conversations],
            )
            empty = {str(row["id"]) for row in conversations} - {str(row["id"]) for row in left}
            if empty:
                names: list[Row] = [{"id": each} for each in sorted(empty)]
                # Held before it is looked at: a server looks first and then waits for whoever adds.
                await self._graph.write(
                    None,
                    *over(self._queries["hold"], "conversations", names),
                    Statement(self._queries["delete_empty"], {"conversations": names}),
                )


def _said(record: InvocationRecord) -> Said:
    key = record.conversation
    return said(key.scope, record.said_at, key.conversation_id, record.invocation_id)


def _exchange(record: InvocationRecord) -> Exchange:
    key = record.conversation
    return Exchange(record.id, key.id, key.conversation_id, record.invocation_id, record.query)


def _from_row(row: Row) -> Exchange:
    said = (row["query"], row["summary"], row["result"], row["metadata"])
    return Exchange(
        id=str(row["id"]),
        conversation=str(row["conversation"]),
        conversation_id=str(row["conversation_id"]),
        invocation_id=str(row["invocation_id"]),
        content="\n".join(str(part) for part in said if part),
        considered=str(row["considered"] or ""),
    )


def _is_selected(exchange: Exchange, selection: Selection) -> bool:
    if selection.everything or exchange.invocation_id in selection.ids:
        return True
    if exchange.conversation_id == selection.conversation_id and (
        not selection.invocation_ids or exchange.invocation_id in selection.invocation_ids
    ):
        return True
    if selection.prompted_with and not selection.prompted_with.isdisjoint(
        in_prompt(exchange.considered)
    ):
        return True
    return selection.fits(exchange.content)
