"""A thousand malformed messages on every topic: none lost, and every service still answers."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from fourtier.client import client_on
from fourtier.runtime.bus.contract import Address, Bus, Mode
from fourtier.runtime.process.host import OPERATOR
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.schema.message import Scope
from fourtier.schema.topics import Topic
from tests.road.services import ROAD
from tests.support.declared import all_declared, handled_by, topic_of
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, scripted_model

ON_EACH_TOPIC = 1_000
#: Not text, not JSON, not an object, an object without what is required, and wrong types.
MALFORMED = (b"\xff\xfe", b"{", b"[1, 2]", b"{}", json.dumps({"user": 5, "query": []}).encode())


def malformed_on(topic: Topic[Any]) -> tuple[bytes, ...]:
    """Those that are not the topic's payload: one without required fields takes any object."""
    return tuple(each for each in MALFORMED if not fits(topic.payload, each))


def fits(payload: type[BaseModel], content: bytes) -> bool:
    try:
        payload.model_validate_json(content)
    except ValidationError:
        return False
    return True


async def flood(bus: Bus, topic: Topic[Any]) -> None:
    """Publish malformed messages, a hundred in flight at once."""
    address, malformed = Address(topic.name, persistent=topic.persistent), malformed_on(topic)
    for first in range(0, ON_EACH_TOPIC, 100):
        await asyncio.gather(
            *(
                bus.publish(address, malformed[number % len(malformed)], key=f"k{number % 7}")
                for number in range(first, first + 100)
            )
        )


async def dead_letters(bus: Bus, service: str, expected: int) -> Counter[str]:
    """Count a service's dead letters by topic; each has its reason."""
    counted: Counter[str] = Counter()
    async with bus.subscribe(dead_letter_address(service), OPERATOR, Mode.SHARED) as letters:
        while counted.total() < expected:
            letter = await letters.receive()
            assert letter.properties["dead-error"].startswith("malformed: is not a valid")
            counted[letter.properties["dead-topic"]] += 1
            await letter.acknowledge()
        assert not letters.arrived(1)
    return counted


@pytest.mark.timeout(300)
async def test_malformed_messages_go_to_the_dead_letter_queue(tmp_path: Path) -> None:
    expected = {service: sorted(topic.name for topic in handled_by(service)) for service in ROAD}

    def hello(_request: ModelRequest) -> Says:
        return Says("Still here.")

    async with (
        scripted_model(script=hello) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        for topic in map(topic_of, all_declared()):
            await flood(flow.bus, topic)
        for service, names in expected.items():
            counted = await dead_letters(flow.bus, service, ON_EACH_TOPIC * len(names))
            assert counted == Counter(dict.fromkeys(names, ON_EACH_TOPIC))
        reply = await client.answer("Are you there?", user="ann")
        stored = await client.facts.store(Scope("ann", "default"), "I live in Oslo")

    assert reply.answer == "Still here."
    assert stored.created
