"""Which episodes are found for a task, end to end: bus, embeddings and vectors, all real."""

from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.episodes import (
    GET_EPISODE,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    STORE_EPISODE,
    Episode,
    GetEpisodeRequest,
    ListEpisodesRequest,
    Result,
    RetrieveEpisodesRequest,
    StoreEpisodeRequest,
)
from fourtier.schema.erasure import ERASE_EPISODES
from fourtier.schema.message import Scope
from tests.memory.episodes.test_episodes_service import START, services
from tests.support.erasing import erase
from tests.support.flow import running_flow

VAGUE = "Hi! I'd like to cancel my reservation."
ASKED = "Anna Smith wants to cancel her flight PEP4E0 to Oslo because of an illness"


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, services()) as flow:
        yield flow.caller


async def store(
    caller: Caller,
    name: str,
    goal: str,
    steps: Sequence[str] = (),
    *,
    result: Result = "success",
    day: int = 0,
    user: str = "ann",
) -> None:
    await caller.call(
        STORE_EPISODE,
        StoreEpisodeRequest(
            user=user,
            episode_id=name,
            goal=goal,
            steps=tuple(steps),
            result=result,
            timestamp=START + timedelta(days=day),
        ),
    )


async def search(
    caller: Caller, query: str, *, top_k: int = 3, result: Result | None = None, user: str = "ann"
) -> list[Episode]:
    request = RetrieveEpisodesRequest(user=user, query=query, top_k=top_k, result=result)
    return list((await caller.call(RETRIEVE_EPISODES, request)).episodes)


def cancelled(reservation: str, name: str) -> list[str]:
    return [
        f'get_user({{"name": "{name}"}}): one reservation, {reservation}',
        f'cancel({{"reservation": "{reservation}"}}): cancelled',
    ]


async def test_of_many_with_the_same_goal_the_one_with_the_names_in_its_steps_is_first(
    caller: Caller,
) -> None:
    for number in range(12):
        await store(caller, f"e{number}", VAGUE, cancelled(f"QX{number}Z{number}", f"Tom{number}"))
    await store(caller, "hers", VAGUE, cancelled("PEP4E0", "Anna Smith"))

    assert (await search(caller, ASKED))[0].id == "hers"


async def test_among_more_than_are_compared_by_meaning_the_words_still_find(caller: Caller) -> None:
    for number in range(130):
        await store(caller, f"e{number}", f"Cancel a flight to Oslo, number {number}")
    await store(caller, "hers", "Good morning", cancelled("PEP4E0", "Anna Smith"))

    query = "Anna Smith wants to cancel PEP4E0"
    assert "hers" in [each.id for each in await search(caller, query)]


async def test_one_word_in_common_is_not_enough(caller: Caller) -> None:
    for number in range(130):
        await store(caller, f"e{number}", f"Cancel a flight to Oslo, number {number}")
    await store(caller, "lawn", "Mow it", ['mow({"lawn": "front"}): cancel it when it rains'])

    found = await search(caller, "Cancel the flight of Anna Smith to Oslo", top_k=200)
    assert "lawn" not in [each.id for each in found]
    assert len(found) >= 100


async def test_equal_successes_do_not_hide_the_failure_and_the_next_goal(caller: Caller) -> None:
    for number in range(6):
        await store(caller, f"good{number}", ASKED, cancelled("PEP4E0", "Anna Smith"))
    await store(caller, "bad", ASKED, ['transfer({"name": "Anna Smith"}): no'], result="failure")
    await store(caller, "other", "Cancel a hotel in Oslo", ['call({"hotel": "Grand"}): done'])

    found = await search(caller, ASKED)
    assert {each.result for each in found[:2]} == {"success", "failure"}
    assert found[2].id == "other"


async def test_a_failure_says_what_the_success_did_and_no_more_once_that_is_deleted(
    caller: Caller,
) -> None:
    await store(caller, "good", ASKED, cancelled("PEP4E0", "Anna Smith"), day=1)
    await store(
        caller, "bad", ASKED, [*cancelled("PEP4E0", "Anna Smith")[:1], "wait({}): no"],
        result="failure", day=2,
    )  # fmt: skip

    (failure,) = await search(caller, ASKED, result="failure")
    assert failure.comparison == "the success of 2026-03-02 used cancel; did not use wait"
    assert failure.compared_with == "good"
    page = await caller.call(LIST_EPISODES, ListEpisodesRequest(user="ann"))
    read = await caller.call(GET_EPISODE, GetEpisodeRequest(user="ann", episode_id="bad"))
    assert [each.comparison for each in page.episodes] == ["", ""]
    assert read.episode is not None
    assert read.episode.comparison == ""

    await erase(caller, ERASE_EPISODES, Scope("ann", "default"), ids=("good",))
    (alone,) = await search(caller, ASKED)
    assert (alone.comparison, alone.compared_with) == ("", "")


async def test_nothing_is_compared_with_what_somebody_else_did(caller: Caller) -> None:
    await store(caller, "good", ASKED, cancelled("PEP4E0", "Anna Smith"), user="bob")
    await store(caller, "bad", ASKED, ["wait({}): no"], result="failure")

    (failure,) = await search(caller, ASKED)
    assert failure.comparison == ""
