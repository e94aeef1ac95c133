"""How much memory a scope may have and for how long: one way of doing it, for each kind of memory.

- **A time to live** counts from when a memory was last stated, or a conversation last active, and
  never from when that was stored: a replay makes nothing younger. What has expired is not found,
  listed or read any more from that moment on. The sweep deletes it.
- **A quota** counts what is stored of a kind for one user and collection. Who stores makes room at
  once: first what has expired goes, then what is worth least, in the order that the parameter
  `when-full` names. With `when-full: reject` nothing goes and what is new is rejected. The sweep
  makes room where a quota was lowered, or a crash came between storing and making room.
- **What goes is erased** by the same way as what is forgotten, so that graph and vectors agree.

There are no tombstones of what expires or is evicted. They would be as many as the memories that a
quota is to limit, and are not needed: the order of eviction depends on the memories alone, not on
when they arrived, so that one that is sent again by a replay is again the first to go, at once, as
long as the scope is full. Where there is room again it comes back, as one that was never evicted.

Any number of replicas may store and sweep at the same time: each deletes what is too much by then.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Protocol

from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.metrics import Removed, count_not_stored, count_removed
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.runtime.errors import QuotaExceededError
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

#: Memories of one scope that are evicted at a time; beyond that a message does not wait for it.
_MAX_EVICTED = 1_000
#: Scopes of which it is known how much room they have.
_MAX_SCOPES = 10_000


class Memories(Protocol):
    """What a service knows of its memories of one kind."""

    async def count(self, scope: Scope) -> int:
        """How many a scope has, expired ones included."""
        ...

    def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:
        """Scopes that may have memories which were last stated until then."""
        ...

    async def delete_expired(self, scope: Scope, before: str) -> int:
        """Delete those of a scope that were last stated until then; how many there were."""
        ...

    def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        """Scopes that may have more than so many."""
        ...

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        """Delete so many of a scope, those that are worth least; their ids."""
        ...


class Retention:
    """Applies what a flow sets to the memories of one service.

    Args:
        kind: of memory: `fact`, `episode`, `conversation`, `entry`.
        memories: those of the service.
        parameters: what the flow sets.
        evicts: False where what is new is rejected instead.
        now: the present moment.

    Attributes:
        rejecting: held from looking for room until what is to fill it is stored.
    """

    def __init__(
        self,
        kind: str,
        memories: Memories,
        parameters: RetentionParameters,
        *,
        evicts: bool,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.kind = kind
        self._memories = memories
        self._ttl = parameters.ttl
        self._maximum = parameters.max_per_scope
        self.evicts = evicts
        self.rejecting = asyncio.Lock()
        self._now = now
        self._room: OrderedDict[Scope, int] = OrderedDict()

    @property
    def is_limited(self) -> bool:
        """Whether the flow sets anything."""
        return self._ttl is not None or self._maximum is not None

    @property
    def expired_until(self) -> str:
        """What was last stated until then has expired; empty where nothing expires."""
        return "" if self._ttl is None else as_text(self._now() - self._ttl)

    def is_expired(self, stated_at: str) -> bool:
        """Whether what was last stated then has expired."""
        return stated_at <= self.expired_until

    async def require_room(self, scope: Scope, new: int) -> None:
        """See that so many may come to a scope, where nothing is evicted for them.

        Raises:
            QuotaExceededError: the scope is full.
        """
        if self._maximum is None or self.evicts or not new:
            return
        if self._room.get(scope, 0) < new:
            await self._look(scope)
        if (room := self._room[scope]) >= new:
            return
        count_not_stored(self.kind, "quota", new)
        raise QuotaExceededError(
            f"not stored: the user's collection is full, it has {self._maximum - room} of at most "
            f"{self._maximum} {_plural(self.kind)}. Forget some of them, or let the flow set a "
            f"higher `max-per-scope`, or a `when-full` that evicts"
        )

    async def make_room(self, added: Mapping[Scope, int]) -> set[str]:
        """Evict what is too much after so many were added to scopes; the ids of what is gone."""
        gone: set[str] = set()
        if self._maximum is None:
            return gone
        for scope, number in added.items():
            room = self._room.get(scope, -1) - number
            self._know(scope, max(room, 0))
            if room < 0 and self.evicts:
                gone.update(await self._evict(scope, await self._look(scope)))
        return gone

    async def sweep(self) -> None:
        """Go through all scopes once. Where it is interrupted, the next sweep does the rest."""
        if until := self.expired_until:
            async for scope in self._memories.scopes_with_expired(until):
                await self._expire(scope, until)
        if self._maximum is None or not self.evicts:
            return
        async for scope in self._memories.crowded_scopes(self._maximum):
            while (excess := await self._look(scope)) and await self._evict(scope, excess):
                pass

    async def _look(self, scope: Scope) -> int:
        """Count what a scope has, without what has expired; how many are too many."""
        if self._maximum is None:
            return 0
        room = self._maximum - await self._memories.count(scope)
        if room <= 0 and (until := self.expired_until):
            room += await self._expire(scope, until)
        self._know(scope, max(room, 0) if self.evicts else room)
        return max(-room, 0)

    def _know(self, scope: Scope, room: int) -> None:
        """Remember how much room a scope has; without that it is counted."""
        self._room[scope] = room
        self._room.move_to_end(scope)
        if len(self._room) > _MAX_SCOPES:
            self._room.popitem(last=False)

    async def _expire(self, scope: Scope, until: str) -> int:
        number = await self._memories.delete_expired(scope, until)
        self._report(scope, "expired", number)
        return number

    async def _evict(self, scope: Scope, excess: int) -> Collection[str]:
        if not excess:
            return ()
        gone = await self._memories.evict(scope, min(excess, _MAX_EVICTED))
        self._report(scope, "evicted", len(gone))
        return gone

    def _report(self, scope: Scope, reason: Removed, number: int) -> None:
        if not number:
            return
        count_removed(self.kind, reason, number)
        log.info(
            "%d %s of a scope are deleted: %s.",
            number,
            _plural(self.kind),
            "it has more than its quota" if reason == "evicted" else "they have expired",
            extra={"user": scope.user, "collection": scope.collection, "reason": reason},
        )


def _plural(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
