"""The facts service end to end: bus, embeddings, graph and vectors, all real."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.erasure import ERASE_FACTS
from fourtier.schema.facts import (
    GET_FACT,
    LIST_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    Fact,
    GetFactRequest,
    ListFactsRequest,
    RetrieveFactsRequest,
    StoreFactRequest,
    StoreFactResponse,
)
from fourtier.schema.message import Scope, Vector
from tests.support.erasing import erase
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

SERVICES = {"embeddings": {}, "facts": {}}


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, SERVICES) as flow:
        yield flow.caller


async def store(
    caller: Caller, content: str, *, user: str = "ann", day: int = 1
) -> StoreFactResponse:
    return await caller.call(
        STORE_FACT,
        StoreFactRequest(
            user=user,
            content=content,
            speaker=user,
            source="c1",
            timestamp=datetime(2026, 3, day, tzinfo=UTC),
        ),
    )


async def search(
    caller: Caller, query: str, *, user: str = "ann", superseded: bool = False
) -> list[Fact]:
    found = await caller.call(
        RETRIEVE_FACTS,
        RetrieveFactsRequest(user=user, query=query, include_superseded=superseded),
    )
    return list(found.facts)


async def test_a_stored_fact_is_found_by_a_question_in_other_words(caller: Caller) -> None:
    await store(caller, "My budget for the Hawaii trip is 10,000 dollars.")
    await store(caller, "My sister plays the cello")

    found = await search(caller, "How much money may I spend on the journey?")

    assert found[0].content == "My budget for the Hawaii trip is 10,000 dollars."
    assert found[0].source == "c1"
    assert found[0].speaker == "ann"


async def test_the_same_statement_twice_is_one_fact(caller: Caller) -> None:
    first = await store(caller, "My sister plays the cello")
    again = await store(caller, "my sister plays the  cello.", day=2)

    listed = await caller.call(LIST_FACTS, ListFactsRequest(user="ann"))

    assert first.created
    assert not again.created
    assert again.fact_id == first.fact_id
    assert listed.total == 1
    assert listed.facts[0].valid_from.day == 1
    assert listed.facts[0].timestamp.day == 2


@pytest.mark.cluster
async def test_a_newer_statement_supersedes_and_the_older_is_stored(caller: Caller) -> None:
    old = await store(caller, "My budget for the Hawaii trip is 10,000 dollars", day=1)
    new = await store(caller, "My Hawaii budget is now 12,000 dollars", day=2)

    current = await search(caller, "What was my budget for the trip?")
    everything = await search(caller, "What was my budget for the trip?", superseded=True)

    assert new.superseded == (old.fact_id,)
    assert [fact.id for fact in current] == [new.fact_id]
    assert [fact.id for fact in everything] == [new.fact_id, old.fact_id]
    assert everything[1].superseded_by == new.fact_id
    assert everything[1].valid_until == everything[0].valid_from


async def test_an_older_statement_that_arrives_late_does_not_win(caller: Caller) -> None:
    new = await store(caller, "My Hawaii budget is 12,000 dollars", day=9)
    await store(caller, "My Hawaii budget is 10,000 dollars", day=2)

    assert [fact.id for fact in await search(caller, "budget")] == [new.fact_id]


async def test_forgetting_the_newest_brings_the_older_back(caller: Caller) -> None:
    old = await store(caller, "My Hawaii budget is 10,000 dollars", day=1)
    new = await store(caller, "My Hawaii budget is 12,000 dollars", day=2)

    assert await erase(caller, ERASE_FACTS, Scope("ann", "default"), ids=(new.fact_id,)) == 1

    assert [fact.id for fact in await search(caller, "budget")] == [old.fact_id]
    assert (
        await caller.call(GET_FACT, GetFactRequest(user="ann", fact_id=new.fact_id))
    ).fact is None


@pytest.mark.cluster
async def test_nothing_is_seen_or_forgotten_from_another_scope(caller: Caller) -> None:
    mine = await store(caller, "My budget is 10,000 dollars", user="ann")

    assert await search(caller, "budget", user="bob") == []
    theirs = await caller.call(GET_FACT, GetFactRequest(user="bob", fact_id=mine.fact_id))
    assert theirs.fact is None
    bob = Scope("bob", "default")
    assert await erase(caller, ERASE_FACTS, bob, ids=(mine.fact_id,)) == 0
    assert await erase(caller, ERASE_FACTS, bob, everything=True) == 0
    assert len(await search(caller, "budget", user="ann")) == 1


@pytest.mark.cluster
async def test_facts_survive_a_restart(tmp_path: Path) -> None:
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        stored = await store(flow.caller, "I live in Oslo")
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        found = await search(flow.caller, "Where do I live?")
    assert [fact.id for fact in found] == [stored.fact_id]


async def test_a_question_finds_what_was_said_by_somebody_on_a_day(caller: Caller) -> None:
    for speaker, day in (("Caroline", 8), ("Melanie", 8), ("Caroline", 21), ("Melanie", 21)):
        await caller.call(
            STORE_FACT,
            StoreFactRequest(
                user="ann",
                content=f"I went to see a friend and we had soup number {day}",
                speaker=speaker,
                timestamp=datetime(2026, 5, day, tzinfo=UTC),
            ),
        )

    first, *_ = await search(caller, "Whom did Melanie visit on 21 May 2026?")

    assert (first.speaker, first.timestamp.day) == ("Melanie", 21)


async def test_statements_without_a_time_were_made_in_the_order_of_their_arrival(
    caller: Caller,
) -> None:
    cities = [f"City{chr(ord('A') + number)}" for number in range(20)]
    contents = [f"I live in {city}" for city in cities]

    await asyncio.gather(
        *(
            caller.call(STORE_FACT, StoreFactRequest(user="ann", content=content))
            for content in contents
        )
    )

    assert [fact.content for fact in await search(caller, "home")] == [contents[-1]]


async def test_subject_and_attribute_name_what_is_superseded(caller: Caller) -> None:
    for day, content in ((1, "Ann earns her bread at Equinor"), (2, "Telenor pays Ann")):
        await caller.call(
            STORE_FACT,
            StoreFactRequest(
                user="ann",
                content=content,
                subject="Ann",
                attribute="employer",
                timestamp=datetime(2026, 3, day, tzinfo=UTC),
            ),
        )

    assert [fact.content for fact in await search(caller, "work")] == ["Telenor pays Ann"]


async def test_an_embedding_of_another_model_is_an_error(caller: Caller) -> None:
    await store(caller, "I live in Oslo")

    with pytest.raises(CallFailedError, match="another embedding model"):
        await caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(user="ann", query="home", embedding=Vector.of([1.0, 2.0])),
        )


async def test_a_user_waits_for_one_batch_of_another_users_import(caller: Caller) -> None:
    number = 300
    for each in range(number):
        request = StoreFactRequest(user="ann", content=f"Tree {each} is behind house {each * 7}.")
        await caller.publish(STORE_FACT.topic, request)

    stored = await caller.call(STORE_FACT, StoreFactRequest(user="bob", content="I live in Oslo."))

    async def facts_of_ann() -> int:
        return (await caller.call(LIST_FACTS, ListFactsRequest(user="ann"))).total

    assert stored.created
    assert await facts_of_ann() < number

    async def all_are_stored() -> bool:
        return await facts_of_ann() == number

    await wait_until(all_are_stored)
