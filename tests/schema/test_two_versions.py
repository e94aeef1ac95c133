"""Messages of the last release read by the present code, and the other way round.

The present code stands for the newer version here, and for the older one where messages come with
fields that it does not know yet.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.bus.contract import Address, Bus, Mode, Subscription
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.service.registry import declared_handlers
from fourtier.schema.conversations import GET_CONVERSATION, GetConversationMemoryRequest
from fourtier.schema.message import Message
from fourtier.schema.topics import Call
from tests.road.services import ROAD
from tests.schema.examples import Examples
from tests.schema.readers import Readers
from tests.schema.snapshot import ReleasedTopic, last_released, present
from tests.support.declared import all_declared, topic_of
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, Writes, scripted_model
from tests.support.waiting import wait_until

RELEASE = last_released()
READERS = Readers(RELEASE)
DECLARED = {topic_of(each).name: each for each in all_declared()}


def models() -> dict[str, type[Message]]:
    """The present models by the names that they had in the release."""
    found: dict[str, type[Message]] = {}
    for name, topic in RELEASE.topics.items():
        declared = DECLARED[name]
        found[topic.payload] = topic_of(declared).payload
        if topic.answer and isinstance(declared, Call):
            found[topic.answer] = declared.answer
    return found


PRESENT = models()


def within(old: Any, new: Any) -> bool:
    """Whether all that was said is still said, whatever else is."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and within(value, new[key]) for key, value in old.items()
        )
    if isinstance(old, list):
        return len(old) == len(new) and all(map(within, old, new))
    return bool(old == new)


@pytest.mark.parametrize("name", PRESENT)
def test_old_messages_are_read_and_nothing_of_them_is_lost(name: str) -> None:
    examples = RELEASE.examples[name]
    for old in (examples.least, examples.full):
        read = PRESENT[name].model_validate_json(json.dumps(old))
        assert within(old, read.model_dump(mode="json"))


@pytest.mark.parametrize("name", PRESENT)
def test_old_readers_read_present_messages(name: str) -> None:
    now, model = present(), PRESENT[name]
    for example in (now.examples[model.__name__].least, now.examples[model.__name__].full):
        written = model.model_validate_json(json.dumps(example)).model_dump_json()
        READERS.of(name).model_validate_json(written)


@pytest.mark.parametrize("name", PRESENT)
def test_fields_of_the_future_are_ignored_at_every_depth(name: str) -> None:
    future = json.dumps(Examples(RELEASE.models, future=True).of(name))
    plain = json.dumps(RELEASE.examples[name].full)
    assert "from-the-future" in future
    model = PRESENT[name]
    assert model.model_validate_json(future) == model.model_validate_json(plain)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("StoreFactRequest", {"user": "ann"}),
        ("StoreFactRequest", {"user": "ann", "content": 1}),
        ("StoreFactRequest", {"user": "ann", "content": ""}),
        ("StoreFactRequest", {"user": "ann", "content": "x", "kind": "unheard of"}),
        ("RetrieveFactsRequest", {"user": "ann", "query": "x", "top_k": 0}),
        ("DialogueTurn", {**RELEASE.examples["DialogueTurn"].full, "timestamp": "yesterday"}),
        (
            "InvocationEnded",
            {**RELEASE.examples["InvocationEnded"].full, "steps": [{"thought": 1}]},
        ),
    ],
)
def test_the_readers_of_a_release_do_reject(name: str, wrong: dict[str, Any]) -> None:
    """Or the tests above would say nothing."""
    with pytest.raises(ValidationError):
        READERS.of(name).model_validate_json(json.dumps(wrong))


def answer_of_model(request: ModelRequest) -> Says | Writes:
    return Says("yes") if request.schema is None else Writes({"key": "value"})


@asynccontextmanager
async def old_client(bus: Bus) -> AsyncGenerator["OldClient"]:
    inbox = Address(f"inbox.{envelope.new_id()}", persistent=False)
    async with bus.subscribe(inbox, "caller", Mode.EXCLUSIVE) as answers:
        yield OldClient(bus, inbox, answers)


class OldClient:
    """A client of the last release: it sends that version's bytes, and reads as it did."""

    def __init__(self, bus: Bus, inbox: Address, answers: Subscription) -> None:
        self._bus = bus
        self._inbox = inbox
        self._answers = answers

    async def send(self, name: str, topic: ReleasedTopic, message: dict[str, Any]) -> None:
        properties = {envelope.ID: envelope.new_id()}
        if topic.answer:
            properties[envelope.REPLY_TO] = self._inbox.name
        address = Address(name, persistent=topic.persistent)
        payload = json.dumps(message).encode()
        await self._bus.publish(address, payload, key=topic.key or "", properties=properties)
        if topic.answer:
            await self._read_answers(name, READERS.of(topic.answer))

    async def _read_answers(self, name: str, reader: Any) -> None:
        last = False
        while not last:
            delivery = await self._answers.receive()
            error = delivery.properties.get(envelope.ERROR)
            assert error is None, f"{name}: {error}: {delivery.payload!r}"
            reader.model_validate_json(delivery.payload)
            last = delivery.properties[envelope.LAST] == "true"


def usable(message: dict[str, Any]) -> dict[str, Any]:
    """Without what only a flow can fill: vectors of its model, a cursor of an earlier answer.

    What happened has happened after all that the examples forget.
    """
    later = dict.fromkeys(("started_at", "ended_at", "timestamp"), "2100-01-01T00:00:00Z")
    return {
        key: later.get(key, value)
        for key, value in message.items()
        if key not in {"embedding", "cursor"}
    }


def messages(model: str) -> dict[str, dict[str, Any]]:
    """What the last release wrote, and what a next one may write."""
    examples = RELEASE.examples[model]
    future = Examples(RELEASE.models, future=True).of(model)
    return {"least": examples.least, "full": examples.full, "future": future}


def events_last(topic: tuple[str, ReleasedTopic]) -> bool:
    return topic[1].answer is None


async def test_services_handle_messages_of_other_versions(tmp_path: Path) -> None:
    async with (
        scripted_model(script=answer_of_model) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        old_client(flow.bus) as client,
    ):
        received = {handler.topic.name for _, handler in declared_handlers(list(ROAD))}
        topics = {name: topic for name, topic in RELEASE.topics.items() if name in received}
        for name, topic in sorted(topics.items(), key=events_last):
            for message in messages(topic.payload).values():
                # Of whoever has opted out nothing that comes later would be stored.
                other = {"user": "somebody else"} if name.endswith(".opt-out") else {}
                await client.send(name, topic, usable(message) | other)

        for turn in messages("DialogueTurn").values():
            # Deleted before by a message, recorded again by two events.
            await wait_until(partial(recorded, flow.caller, turn, {"run_id", "turn_id"}))
        for service in ROAD:
            assert await list_dead_letters(flow.bus, service) == []


async def recorded(caller: Caller, turn: dict[str, Any], ids: set[str]) -> bool:
    """Whether the conversation of a turn has the invocations of these ids."""
    place = {key: turn[key] for key in ("user", "collection", "conversation_id") if key in turn}
    answer = await caller.call(GET_CONVERSATION, GetConversationMemoryRequest(**place))
    return ids <= {invocation.id for invocation in answer.conversation.invocations}
