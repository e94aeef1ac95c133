"""Storing memories as a retention policy wants it: the same steps for each kind."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from fourtier.memory.retention.metrics import count_not_stored
from fourtier.memory.retention.policy import Retention
from fourtier.schema.message import NotStored, Scope


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that is to be stored.

    Attributes:
        stated_at: as the stores write times; from then on it gets old.
    """

    scope: Scope
    id: str
    stated_at: str


async def store_retained(
    retention: Retention,
    candidates: Sequence[Candidate],
    *,
    known: Callable[[], Awaitable[Collection[str]]],
    store: Callable[[Sequence[int]], Awaitable[Sequence[bool]]],
) -> list[NotStored | None]:
    """Store what has not expired, and make room for it; of each whether it was too old or evicted.

    Args:
        retention: of this kind of memory.
        candidates: those of a batch, of any scopes.
        known: the ids of those that are there already; only asked where a full scope rejects.
        store: stores those of some indices; of each whether it is new there.

    Raises:
        QuotaExceededError: a scope is full, and nothing is evicted; nothing is stored.
    """
    expired = [retention.is_expired(each.stated_at) for each in candidates]
    count_not_stored(retention.kind, "expired", sum(expired))
    fresh = [index for index, is_old in enumerate(expired) if not is_old]
    evicted: set[str] = set()
    if fresh:
        async with nullcontext() if retention.evicts else retention.rejecting:
            if not retention.evicts:
                await _require_room(
                    retention, [candidates[index] for index in fresh], await known()
                )
            created = await store(fresh)
            new = zip(fresh, created, strict=True)
            added = Counter(candidates[index].scope for index, is_new in new if is_new)
            evicted = await retention.make_room(added)
    return [
        "expired" if is_old else "evicted" if each.id in evicted else None
        for each, is_old in zip(candidates, expired, strict=True)
    ]


async def _require_room(
    retention: Retention, candidates: Sequence[Candidate], known: Collection[str]
) -> None:
    new = {each.id: each.scope for each in candidates if each.id not in known}
    for scope, number in Counter(new.values()).items():
        await retention.require_room(scope, number)
