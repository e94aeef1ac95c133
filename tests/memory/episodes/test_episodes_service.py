"""The episodes service end to end: bus, embeddings and vectors, all real."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.envelope import SENT_AT, properties_for
from fourtier.schema.episodes import (
    GET_EPISODE,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    STORE_EPISODE,
    Episode,
    GetEpisodeRequest,
    ListEpisodesRequest,
    ListEpisodesResponse,
    Result,
    RetrieveEpisodesRequest,
    StoreEpisodeRequest,
    StoreEpisodeResponse,
)
from fourtier.schema.erasure import ERASE_EPISODES
from fourtier.schema.message import Scope, Vector
from tests.support.erasing import erase
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

START = datetime(2026, 3, 1, tzinfo=UTC)


def services(**episodes: Any) -> dict[str, dict[str, Any]]:
    return {"embeddings": {}, "episodes": episodes}


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, services()) as flow:
        yield flow.caller


async def store(
    caller: Caller,
    goal: str,
    *,
    user: str = "ann",
    day: float = 1,
    result: Result = "unknown",
    episode_id: str = "",
    outcome: str = "done",
) -> StoreEpisodeResponse:
    return await caller.call(
        STORE_EPISODE,
        StoreEpisodeRequest(
            user=user,
            goal=goal,
            steps=("search(flights): found 3", "book(AB12): booked"),
            outcome=outcome,
            lessons="Ask for the date first.",
            result=result,
            source="c1",
            timestamp=START + timedelta(days=day),
            episode_id=episode_id,
            metadata={"run_id": "r1"},
        ),
    )


async def search(
    caller: Caller, query: str, *, user: str = "ann", result: Result | None = None, top_k: int = 3
) -> list[Episode]:
    found = await caller.call(
        RETRIEVE_EPISODES,
        RetrieveEpisodesRequest(user=user, query=query, result=result, top_k=top_k),
    )
    return list(found.episodes)


async def listed(caller: Caller, *, user: str = "ann", **page: int) -> ListEpisodesResponse:
    return await caller.call(LIST_EPISODES, ListEpisodesRequest(user=user, **page))


async def test_an_episode_is_found_by_a_goal_in_other_words(caller: Caller) -> None:
    flight = await store(caller, "Book a flight from New York to Seattle")
    await store(caller, "Compute the tax on a salary of 60,000 euros")

    found = await search(caller, "I want to fly to Seattle next week")

    assert found[0].id == flight.episode_id
    assert found[0].steps == ("search(flights): found 3", "book(AB12): booked")
    assert found[0].outcome == "done"
    assert found[0].lessons == "Ask for the date first."
    assert found[0].source == "c1"
    assert found[0].metadata == {"run_id": "r1"}
    assert found[0].score is not None
    assert 0.2 < found[0].score <= 1


async def test_a_goal_of_another_matter_is_not_found(caller: Caller) -> None:
    await store(caller, "Book a flight from New York to Seattle")

    assert await search(caller, "How many eggs does the pancake recipe need?") == []


async def test_hits_come_best_first(caller: Caller) -> None:
    for goal in ("Book a hotel in Rome", "Book a flight to Rome", "Cancel a flight to Oslo"):
        await store(caller, goal)

    found = await search(caller, "Book a flight to Rome")

    assert found[0].goal == "Book a flight to Rome"
    scores = [episode.score or 0 for episode in found]
    assert scores == sorted(scores, reverse=True)


async def test_success_and_failure_are_distinguished(caller: Caller) -> None:
    good = await store(caller, "Book a flight to Rome", result="success")
    bad = await store(caller, "Book a flight to Rome in May", result="failure")

    assert [each.id for each in await search(caller, "flight to Rome", result="success")] == [
        good.episode_id
    ]
    assert [each.id for each in await search(caller, "flight to Rome", result="failure")] == [
        bad.episode_id
    ]
    assert await search(caller, "flight to Rome", result="unknown") == []
    assert len(await search(caller, "flight to Rome")) == 2


async def test_the_same_episode_twice_is_one(caller: Caller) -> None:
    first = await store(caller, "Book a flight to Rome")
    again = await store(caller, "Book a flight to Rome", outcome="booked")

    assert first.created
    assert not again.created
    assert again.episode_id == first.episode_id
    page = await listed(caller)
    assert [episode.outcome for episode in page.episodes] == ["booked"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_the_version_that_was_sent_last_stands_in_whatever_order_they_come(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    versions = [
        StoreEpisodeRequest(user="ann", goal=f"Plan {number} days in Rome", episode_id="trip")
        for number in range(3)
    ]
    times = [int((START + timedelta(hours=hour)).timestamp() * 1e6) for hour in range(3)]
    async with running_flow(tmp_path, services()) as flow:
        for number in [*order, *order]:
            request = versions[number]
            await flow.bus.publish(
                Address(STORE_EPISODE.topic.name),
                request.model_dump_json().encode(),
                key=STORE_EPISODE.topic.key(request) if STORE_EPISODE.topic.key else "",
                properties=properties_for(request) | {SENT_AT: str(times[number])},
            )
            # Of the same scope, so that what was published before it is stored.
            await store(flow.caller, "Water the plants", episode_id="last")

        page = await listed(flow.caller)

    assert sorted(each.goal for each in page.episodes) == [
        "Plan 2 days in Rome",
        "Water the plants",
    ]


async def test_a_repeated_request_without_a_time_keeps_the_first_time(caller: Caller) -> None:
    request = StoreEpisodeRequest(user="ann", goal="Book a flight to Rome", source="c1")
    first = await caller.call(STORE_EPISODE, request)
    before = (await listed(caller)).episodes[0].timestamp
    again = await caller.call(STORE_EPISODE, request)

    assert again.episode_id == first.episode_id
    page = await listed(caller)
    assert page.total == 1
    assert page.episodes[0].timestamp == before


async def test_goals_of_different_times_are_different_episodes(caller: Caller) -> None:
    await store(caller, "Book a flight to Rome", day=1)
    await store(caller, "Book a flight to Rome", day=2)

    assert (await listed(caller)).total == 2


async def test_the_list_is_newest_first_in_pages_with_the_total(caller: Caller) -> None:
    for day in (3, 1, 2):
        await store(caller, f"Water the plants on day {day}", day=day, episode_id=f"e{day}")

    first, second = await listed(caller, limit=2), await listed(caller, limit=2, offset=2)

    assert [episode.id for episode in first.episodes] == ["e3", "e2"]
    assert [episode.id for episode in second.episodes] == ["e1"]
    assert first.total == second.total == 3
    assert first.episodes[0].score is None


async def test_what_arrives_in_a_batch_is_answered_in_order(caller: Caller) -> None:
    many = [
        StoreEpisodeRequest(
            user=f"user{number % 3}", goal=f"Task {number % 5}", episode_id=f"e{number % 5}"
        )
        for number in range(30)
    ]
    for request in many:
        await caller.publish(STORE_EPISODE.topic, request)
    last = await store(caller, "The last task", user="user0", episode_id="last")

    assert last.episode_id == "last"
    await wait_until(lambda: _total_is(caller, "user2", 5))
    assert (await listed(caller, user="user0")).total == 6


async def _total_is(caller: Caller, user: str, total: int) -> bool:
    return (await listed(caller, user=user)).total == total


@pytest.mark.cluster
async def test_nothing_is_seen_changed_or_deleted_from_another_scope(caller: Caller) -> None:
    await store(caller, "Book a flight to Rome", user="ann", episode_id="same")
    await store(caller, "Repair the bicycle", user="bob", episode_id="same")

    assert await search(caller, "flight to Rome", user="bob") == []
    theirs = await caller.call(GET_EPISODE, GetEpisodeRequest(user="bob", episode_id="same"))
    assert theirs.episode is not None
    assert theirs.episode.goal == "Repair the bicycle"
    other = GetEpisodeRequest(user="ann", collection="work", episode_id="same")
    assert (await caller.call(GET_EPISODE, other)).episode is None
    assert await erase(caller, ERASE_EPISODES, Scope("bob", "default"), everything=True) == 1
    assert (await listed(caller, user="ann")).total == 1


async def test_one_is_deleted_and_then_all(caller: Caller) -> None:
    for number in range(3):
        await store(caller, f"Task number {number}", episode_id=f"e{number}")
    ann = Scope("ann", "default")

    assert await erase(caller, ERASE_EPISODES, ann, ids=("e1",)) == 1
    assert await erase(caller, ERASE_EPISODES, ann, ids=("e1",)) == 0
    assert {episode.id for episode in (await listed(caller)).episodes} == {"e0", "e2"}
    assert await erase(caller, ERASE_EPISODES, ann, everything=True) == 2
    assert await erase(caller, ERASE_EPISODES, ann, everything=True) == 0
    assert (await listed(caller)).total == 0


async def test_a_vector_of_another_model_is_an_error_in_words(caller: Caller) -> None:
    await store(caller, "Book a flight to Rome")
    request = RetrieveEpisodesRequest(user="ann", query="x", embedding=Vector.of([1.0, 2.0]))

    with pytest.raises(CallFailedError, match="dimensions"):
        await caller.call(RETRIEVE_EPISODES, request)


async def test_an_expired_episode_is_never_shown_even_before_the_sweep(tmp_path: Path) -> None:
    now = (datetime.now(UTC) - START) / timedelta(days=1)
    async with running_flow(tmp_path, services(**{"ttl-days": 30})) as flow:
        caller = flow.caller
        for number in range(5):
            await store(caller, "Book a flight to Rome", day=now - 31, episode_id=f"old{number}")
        await store(caller, "Book a train to Milan", day=now - 29, episode_id="new")

        assert [each.id for each in await search(caller, "Book a flight to Rome", top_k=1)] == [
            "new"
        ]
        page = await listed(caller)
        assert ([each.id for each in page.episodes], page.total) == (["new"], 1)
        old = await caller.call(GET_EPISODE, GetEpisodeRequest(user="ann", episode_id="old1"))
        assert old.episode is None


@pytest.mark.cluster
async def test_episodes_survive_a_restart(tmp_path: Path) -> None:
    async with running_flow(tmp_path, services(), bus="embedded") as flow:
        stored = await store(flow.caller, "Book a flight to Rome")
    async with running_flow(tmp_path, services(), bus="embedded") as flow:
        assert [each.id for each in await search(flow.caller, "fly to Rome")] == [stored.episode_id]
