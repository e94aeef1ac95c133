"""Which users have opted out, in the graph of each service that stores memories.

Each service has its own copy beside its tombstones, so that it knows without asking another one.
A copy holds times and no state: when the user was first opted out, when last, and when last opted
in. Each only moves one way, so that commands may come twice and in any order, to any replica.

Opted out is whoever was so later than opted in. What was said between the first opting out and the
last opting in stays unsaid: a replay or a dead letter must not bring it into memory afterwards.
"""

import json
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fourtier.engines.graph.conflicts import retry_on_conflict
from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text, parse_time
from fourtier.memory.retention.metrics import count_not_stored
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.runtime.service.stores.schemas import GraphSchema, Node

_LABEL = "OptOut"
_NAMESPACE = uuid.UUID("5b1e1d0e-7f0a-5c64-8d5b-0f6c4f6f2b11")
#: What the statements are written for; each service has a label of its own.
SCHEMA = GraphSchema([Node(_LABEL, dict.fromkeys(("id", "first", "since", "until"), "STRING"))])
#: Later than any time that is written.
_NEVER = "~"


def opt_outs_of(service: str) -> Node:
    """The opt-outs that a service knows, for the schema of its graph."""
    return replace(SCHEMA.nodes[0], label=f"{service}{_LABEL}")


@dataclass(frozen=True, slots=True)
class OptOut:
    """What is known of one user; times as the stores write them.

    Attributes:
        first: when the user was first opted out; empty where all of before was forgotten with it.
        since: when last.
        until: when the user was last opted in again.
    """

    first: str = _NEVER
    since: str = ""
    until: str = ""

    @property
    def is_out(self) -> bool:
        """Whether the user is opted out now."""
        return self.since > self.until

    @property
    def out_since(self) -> datetime | None:
        """Since when the user is opted out; None while opted in."""
        return parse_time(self.since) if self.is_out else None

    def excludes(self, said_at: str) -> bool:
        """Whether what was said then is not to be stored."""
        return self.is_out or self.first <= said_at <= self.until


class OptOuts:
    """Reads and writes the opt-outs of one service.

    Args:
        node: of the service, see `opt_outs_of`.
        by_flow: users whom the flow file opts out.
    """

    def __init__(self, graph: GraphStore, node: Node, by_flow: Collection[str] = ()) -> None:
        self._graph = graph
        self._label = node.label
        self._by_flow = frozenset(by_flow)
        self._kind = node.label.removesuffix(_LABEL).lower()
        self._queries = {
            name: text.replace(f":{_LABEL}", f":{node.label}")
            for name, text in load_queries("fourtier.memory.retention").items()
        }

    async def opt_out(self, user: str, at: datetime, *, forget: bool = False) -> None:
        """Remember a user no more; on disk when this returns.

        Args:
            user: whom.
            at: when that was asked for.
            forget: what was said before is not stored either, should it still come.
        """
        text = as_text(at)
        await self._note(user, OptOut("" if forget else text, text))

    async def opt_in(self, user: str, at: datetime) -> None:
        """Remember a user again from then on; on disk when this returns."""
        await self._note(user, OptOut(until=as_text(at)))

    async def _note(self, user: str, change: OptOut) -> None:
        row: Row = {
            "id": _name(user),
            "first": change.first,
            "since": change.since,
            "until": change.until,
        }

        async def write() -> None:
            self._graph.known_ids.add(self._label, [_name(user)])
            known = await self._read([user])
            await self._graph.write(
                None,
                *over(self._queries["create"], "users", [] if known else [row]),
                *over(self._queries["set"], "users", [row] if known else [], all_there=True),
            )

        await retry_on_conflict(write)

    async def of(self, user: str) -> OptOut:
        """What is known of a user."""
        return (await self._read([user])).get(_name(user), OptOut())

    def is_out_by_flow(self, user: str) -> bool:
        """Whether the flow file opts a user out."""
        return user in self._by_flow

    async def is_out(self, user: str) -> bool:
        """Whether a user is opted out, by a call or by the flow."""
        return user in self._by_flow or (await self.of(user)).is_out

    async def excluded(self, said: Sequence[tuple[str, str]]) -> list[bool]:
        """Of each user and time whether what the user said then is not to be stored; counted."""
        known = await self._read({user for user, _ in said})
        excluded = [
            user in self._by_flow or known.get(_name(user), OptOut()).excludes(at)
            for user, at in said
        ]
        count_not_stored(self._kind, "opt-out", sum(excluded))
        return excluded

    async def _read(self, users: Iterable[str]) -> dict[str, OptOut]:
        ids = await self._graph.known_ids.among(self._label, {_name(user) for user in users})
        if not ids:
            return {}
        rows = await self._graph.read(None, self._queries["read"], ids=sorted(ids))
        return {
            str(row["id"]): OptOut(str(row["first"]), str(row["since"]), str(row["until"]))
            for row in rows
        }


def _name(user: str) -> str:
    """What a user's node is found by: it does not tell who that is."""
    return str(uuid.uuid5(_NAMESPACE, json.dumps(user)))
