"""The tombstones of one service, in its graph.

Who forgets writes the tombstone first, and deletes when that is on disk. Who stores looks for
tombstones before it writes, and again afterwards, and takes out again what was forgotten in
between. So whatever the order in which the two go on, in one process or in two, one of them sees
the other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.tombstones.subject import Said, Subject
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.runtime.service.stores.schemas import GraphSchema, Node
from fourtier.schema.message import NotStored

_LABEL = "Tombstone"
#: What the statements are written for; each service has a label of its own.
SCHEMA = GraphSchema([Node(_LABEL, dict.fromkeys(("id", "kind", "at"), "STRING"))])


def tombstones_of(service: str) -> Node:
    """The tombstones of a service, for the schema of its graph."""
    return replace(SCHEMA.nodes[0], label=f"{service}{_LABEL}")


class Tombstones:
    """Reads and writes tombstones.

    Args:
        node: of the service, see `tombstones_of`.
        opt_outs: users of whom nothing is stored count as if they had forgotten everything.
    """

    def __init__(self, graph: GraphStore, node: Node, opt_outs: OptOuts | None = None) -> None:
        self._graph = graph
        self._label = node.label
        self._opt_outs = opt_outs
        self._queries = {
            name: text.replace(f":{_LABEL}", f":{node.label}")
            for name, text in load_queries("fourtier.memory.tombstones").items()
        }

    async def add(self, subjects: Sequence[Subject], at: datetime) -> None:
        """Forget what was said of some subjects until a time; on disk when this returns.

        Records of conversations are forgotten until now: what was read of them before is what the
        caller, whose clock may be another, has not forgotten yet.
        """
        at_text, now_text = as_text(at), as_text(max(at, datetime.now(UTC)))
        rows: dict[str, Row] = {
            each.id: {
                "id": each.id,
                "kind": each.kind,
                "at": now_text if each.kind == "record" else at_text,
            }
            for each in subjects
        }
        if rows:
            await retry_on_conflict(lambda: self._add(rows))

    async def _add(self, rows: dict[str, Row]) -> None:
        """Write tombstones.

        Raises:
            ConflictError: another writer has created one of them meanwhile.
        """
        self._graph.known_ids.add(self._label, rows)
        known = await self._times(list(rows))
        new = [row for name, row in rows.items() if name not in known]
        old = [row for name, row in rows.items() if name in known]
        await self._graph.write(
            None,
            *over(self._queries["create"], "tombstones", new),
            *over(self._queries["raise"], "tombstones", old, all_there=True),
        )

    async def excluded(self, said: Sequence[Said]) -> list[NotStored | None]:
        """Of each why it is not to be stored: forgotten, or of a user who has opted out."""
        times, opted_out = await asyncio.gather(
            self._times({subject.id for one in said for subject, _ in one.times}),
            self._opted_out(said),
        )
        reasons: list[NotStored | None] = []
        for one, is_out in zip(said, opted_out, strict=True):
            forgotten = any(at <= times.get(subject.id, "") for subject, at in one.times)
            reasons.append("forgotten" if forgotten else "opted-out" if is_out else None)
        return reasons

    async def _opted_out(self, said: Sequence[Said]) -> list[bool]:
        if self._opt_outs is None:
            return [False] * len(said)
        return await self._opt_outs.excluded([(one.subjects[0].scope.user, one.at) for one in said])

    async def _times(self, ids: Sequence[str] | set[str]) -> dict[str, str]:
        known = await self._graph.known_ids.among(self._label, ids)
        if not known:
            return {}
        rows = await self._graph.read(None, self._queries["read"], ids=sorted(known))
        return {str(row["id"]): str(row["at"]) for row in rows}


async def store_unless_forgotten(
    tombstones: Tombstones,
    said: Sequence[Said],
    *,
    store: Callable[[Sequence[int]], Awaitable[Collection[int]]],
    take_out: Callable[[Sequence[int]], Awaitable[None]],
) -> list[NotStored | None]:
    """Store what was not forgotten, of users who have not opted out; of each why it is not stored.

    Args:
        tombstones: of the service.
        said: of each item when it was said, and by what it can be forgotten.
        store: stores the items of some indices, and says which were not there before; not called
            for none.
        take_out: deletes items again that were forgotten while they were stored. Of a user who has
            opted out meanwhile only those that are new: what was there before is kept.
    """
    reasons = await tombstones.excluded(said)
    living = [index for index, reason in enumerate(reasons) if reason is None]
    if not living:
        return reasons
    new = await store(living)
    after = await tombstones.excluded([said[index] for index in living])
    gone = [
        index
        for index, reason in zip(living, after, strict=True)
        if reason == "forgotten" or (reason and index in new)
    ]
    if gone:
        await take_out(gone)
    for index, reason in zip(living, after, strict=True):
        reasons[index] = reason
    return reasons
