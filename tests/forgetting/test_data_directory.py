"""A whole embedded flow: words come in by every road and are deleted; then every byte is read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fourtier.client import Client, client_on
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.message import Scope
from tests.forgetting.bytes import canary, find
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Calls, ModelRequest, Says, scripted_model
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.processes]

ANN = Scope("ann", "default")
ROADS = ("stored", "asked", "task", "conversation", "imported", "episode")


def reply(request: ModelRequest) -> Calls | Says:
    if "Split" in request.last:
        return Calls("calculator", {"expression": "1200/8"}, thought="divide")
    return Says("Noted.")


async def tell(client: Client, words: dict[str, str]) -> None:
    """Put a word in by each road, and end what can be promoted."""
    await client.facts.store(ANN, f"I hid the {words['stored']} in the garden.")
    asked = f"My hideout is {words['asked']} in the forest."
    await client.answer(asked, user="ann", conversation_id="c1")
    task = f"Split 1200 dollars among 8 people for {words['task']}, then double it"
    await client.answer(task, user="ann", conversation_id="c1")
    await client.answer("My dog is Rex.", user="ann", conversation_id=words["conversation"])
    turn = DialogueTurn(
        user="ann",
        conversation_id="imported",
        speaker="Ann",
        content=f"My sister lives in {words['imported']}.",
        timestamp=datetime.now(UTC),
        turn_id="t1",
    )
    await client.conversations.record(turn)
    episode = StoreEpisodeRequest(
        user="ann",
        goal=f"find the {words['episode']}",
        steps=(f"walk to {words['episode']}",),
        lessons=f"{words['episode']} is far",
    )
    await client.caller.call(STORE_EPISODE, episode)
    await wait_until(lambda: learned(client, words))
    assert await client.conversations.end(ANN, "c1")
    await wait_until(lambda: promoted(client))


async def learned(client: Client, words: dict[str, str]) -> bool:
    facts = [fact.content for fact in (await client.facts.list(ANN)).facts]
    roads = ("stored", "asked", "imported")
    return (
        all(any(words[road] in fact for fact in facts) for road in roads)
        and (await client.conversations.list(ANN)).total == 3
    )


async def promoted(client: Client) -> bool:
    """The stored episode, and that of the conversation that has ended."""
    return (await client.episodes.list(ANN)).total == 2


async def delete(client: Client) -> None:
    """Each kind of memory by its call."""
    for fact in (await client.facts.list(ANN, include_superseded=True)).facts:
        assert await client.forget.fact(ANN, fact.id)
    for episode in (await client.episodes.list(ANN)).episodes:
        assert await client.forget.episode(ANN, episode.id)
    for conversation in (await client.conversations.list(ANN)).conversations:
        assert await client.forget.conversation(ANN, conversation.conversation_id)


async def test_no_byte_of_what_was_deleted_is_in_the_data_of_a_stopped_flow(tmp_path: Path) -> None:
    words = {road: canary() for road in ROADS}
    async with scripted_model(script=reply) as model:
        flow = running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings)
        async with flow as running, client_on(running.bus) as client:
            await tell(client, words)
        assert {each.canary for each in find(tmp_path, words.values())} == set(words.values())
        places = {Path(each.file).parts[0] for each in find(tmp_path, words.values())}
        assert places >= {"facts", "episodes", "conversations"}

        flow = running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings)
        async with flow as running, client_on(running.bus) as client:
            await delete(client)

    assert find(tmp_path, words.values()) == []


def repeated(request: ModelRequest) -> Calls | Says:
    """As a model that says what it was told: its answers are stored too."""
    if "Split" in request.last:
        return Calls("calculator", {"expression": "1200/8"}, thought=request.last[:200])
    return Says(f"You said: {request.last[:200]}")


async def test_no_byte_of_a_forgotten_user_is_in_the_data_of_a_stopped_flow(
    tmp_path: Path,
) -> None:
    words = {road: canary() for road in ROADS}
    async with scripted_model(script=repeated) as model:
        flow = running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings)
        async with flow as running, client_on(running.bus) as client:
            await tell(client, words)
        places = {Path(each.file).parts[0] for each in find(tmp_path, words.values())}
        assert places >= {"facts", "episodes", "conversations", "working-memory", "archive"}

        flow = running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings)
        async with flow as running, client_on(running.bus) as client:
            done = await client.forget.everything(ANN)

    assert min(part.number for part in (done.facts, done.episodes, done.conversations)) > 0
    assert done.working_memory.number > 0
    assert find(tmp_path, words.values()) == []


async def test_the_scan_finds_words_in_the_bus_before_they_are_handled(tmp_path: Path) -> None:
    """That the first test finds nothing there is the work of compaction, not of a compression."""
    words = {road: canary() for road in ROADS}
    async with scripted_model(script=reply) as model:
        flow = running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings)
        async with flow as running, client_on(running.bus) as client:
            await tell(client, words)
            found = {each.canary for each in find(tmp_path / "bus", words.values())}
            assert found == set(words.values())
