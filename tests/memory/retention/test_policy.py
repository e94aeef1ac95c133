"""The retention policy by itself, over memories that are a dict."""

from collections import defaultdict
from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime, timedelta

import pytest

from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.parameters import RetentionParameters
from fourtier.memory.retention.policy import Retention
from fourtier.runtime.errors import QuotaExceededError
from fourtier.schema.message import Scope

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def at(days: float) -> str:
    return as_text(NOON - timedelta(days=days))


class Dict:
    """Memories by scope and id, with when they were last stated; counts how often it is counted."""

    def __init__(self) -> None:
        self.stored: defaultdict[Scope, dict[str, str]] = defaultdict(dict)
        self.counts = 0

    async def count(self, scope: Scope) -> int:
        self.counts += 1
        return len(self.stored[scope])

    async def scopes_with_expired(self, before: str) -> AsyncIterator[Scope]:
        for scope in list(self.stored):
            if any(each <= before for each in self.stored[scope].values()):
                yield scope

    async def delete_expired(self, scope: Scope, before: str) -> int:
        gone = [name for name, each in self.stored[scope].items() if each <= before]
        for name in gone:
            del self.stored[scope][name]
        return len(gone)

    async def crowded_scopes(self, maximum: int) -> AsyncIterator[Scope]:
        for scope in list(self.stored):
            if len(self.stored[scope]) > maximum:
                yield scope

    async def evict(self, scope: Scope, number: int) -> Collection[str]:
        gone = sorted(self.stored[scope], key=self.stored[scope].__getitem__)[:number]
        for name in gone:
            del self.stored[scope][name]
        return gone

    def put(self, scope: Scope, *days: float) -> None:
        self.stored[scope] |= {f"d{each:g}": at(each) for each in days}


def retention(memories: Dict, *, evicts: bool = True, **parameters: float) -> Retention:
    settings = RetentionParameters.model_validate(parameters)
    return Retention("fact", memories, settings, evicts=evicts, now=lambda: NOON)


async def test_without_settings_nothing_goes_and_nothing_is_counted() -> None:
    memories = Dict()
    memories.put(ANN, 1, 2, 30_000)
    policy = retention(memories)

    await policy.require_room(ANN, 5)
    assert await policy.make_room({ANN: 3}) == set()
    await policy.sweep()

    assert len(memories.stored[ANN]) == 3
    assert memories.counts == 0
    assert not policy.is_expired(at(30_000))


async def test_who_stores_makes_room_in_that_scope() -> None:
    memories = Dict()
    memories.put(ANN, 1, 2, 3, 4)
    memories.put(BOB, 1, 2, 3, 4)
    assert await retention(memories, max_per_scope=2).make_room({ANN: 4}) == {"d3", "d4"}
    assert set(memories.stored[ANN]) == {"d1", "d2"}
    assert len(memories.stored[BOB]) == 4


async def test_a_scope_with_room_is_not_counted_each_time() -> None:
    memories = Dict()
    policy = retention(memories, max_per_scope=10)
    for number in range(10):
        memories.put(ANN, number)
        assert await policy.make_room({ANN: 1}) == set()
    assert memories.counts == 1
    memories.put(ANN, 10)
    assert await policy.make_room({ANN: 1}) == {"d10"}


async def test_what_has_expired_makes_room_before_anything_is_evicted() -> None:
    memories = Dict()
    memories.put(ANN, 1, 2, 9, 10)
    assert await retention(memories, max_per_scope=2, ttl_days=5).make_room({ANN: 4}) == set()
    assert set(memories.stored[ANN]) == {"d1", "d2"}


async def test_a_full_scope_rejects_and_says_what_to_do() -> None:
    memories = Dict()
    memories.put(ANN, 1, 2)
    policy = retention(memories, evicts=False, max_per_scope=3)

    await policy.require_room(ANN, 1)
    with pytest.raises(QuotaExceededError, match=r"has 2 of at most 3 facts.*max-per-scope"):
        await policy.require_room(ANN, 2)
    await policy.sweep()
    assert await policy.make_room({ANN: 3}) == set()
    assert len(memories.stored[ANN]) == 2
    await policy.require_room(BOB, 3)


async def test_a_scope_that_was_full_takes_something_again() -> None:
    memories = Dict()
    memories.put(ANN, 1, 2)
    policy = retention(memories, evicts=False, max_per_scope=2)
    with pytest.raises(QuotaExceededError):
        await policy.require_room(ANN, 1)
    del memories.stored[ANN]["d1"]
    await policy.require_room(ANN, 1)


async def test_what_has_expired_is_no_reason_to_reject() -> None:
    memories = Dict()
    memories.put(ANN, 1, 9)
    await retention(memories, evicts=False, max_per_scope=2, ttl_days=5).require_room(ANN, 1)
    assert set(memories.stored[ANN]) == {"d1"}


async def test_a_sweep_deletes_what_has_expired_and_what_is_too_much() -> None:
    memories = Dict()
    memories.put(ANN, *range(1, 1_500))
    memories.put(BOB, 1, 2_000)
    policy = retention(memories, max_per_scope=100, ttl_days=1_600)

    await policy.sweep()

    assert set(memories.stored[ANN]) == {f"d{each}" for each in range(1, 101)}
    assert set(memories.stored[BOB]) == {"d1"}


def test_a_memory_expires_when_its_time_is_over() -> None:
    policy = retention(Dict(), ttl_days=5)
    assert policy.is_expired(at(5))
    assert not policy.is_expired(at(4.999))


@pytest.mark.parametrize(
    "wrong", [{"ttl-days": 0}, {"ttl-days": "90d"}, {"max-per-scope": 0}, {"sweep-seconds": -1}]
)
def test_a_wrong_value_is_not_accepted(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RetentionParameters.model_validate(wrong)
