"""A flood of malformed messages on every topic: all are told of, and every service still answers.

Commands and events are stored as dead letters, queries are logged.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from fourtier.client import client_on
from fourtier.runtime.bus.contract import Address, Bus, Mode, Subscription
from fourtier.runtime.rpc import results
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address
from fourtier.schema.message import Scope
from fourtier.schema.topics import Topic
from tests.cluster.servers import SERVERS
from tests.road.services import ROAD
from tests.support.declared import all_declared, handled_by, topic_of
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, scripted_model
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

#: There are sixty topics: on Pulsar a thousand on each take minutes, and show no more.
ON_EACH_TOPIC = 100 if SERVERS.flows else 1_000
#: So many wait at once, on one topic.
IN_FLIGHT = 100
#: A broker drops what is not persistent where a connection does not take it in time, as its
#: documentation says, and a caller asks again. So fewer wait at once, and those of which nothing is
#: heard for so long are published again.
IN_FLIGHT_NOT_PERSISTENT = 20
SECONDS_UNTIL_DROPPED = 10
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


async def flood(bus: Bus, topic: Topic[Any], number: int) -> None:
    """Publish malformed messages, all in flight at once."""
    address, malformed = Address(topic.name, persistent=topic.persistent), malformed_on(topic)
    await asyncio.gather(
        *(
            bus.publish(address, malformed[each % len(malformed)], key=f"k{each % 7}")
            for each in range(number)
        )
    )


async def take_dead_letters(letters: Subscription, topic: Topic[Any], number: int) -> None:
    """Take so many dead letters of the topic, each with its reason."""
    for _ in range(number):
        letter = await letters.receive()
        assert letter.properties["dead-error"].startswith("malformed: is not a valid")
        assert letter.properties["dead-topic"] == topic.name
        await letter.acknowledge()


class Malformed(logging.Handler):
    """Counts by topic what is logged of messages that nobody can read."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.counts = Counter[str]()

    def emit(self, record: logging.LogRecord) -> None:
        if "malformed: is not a valid" in record.getMessage():
            self.counts[getattr(record, "topic", "")] += 1


async def flood_with_commands(bus: Bus, topic: Topic[Any], letters: Sequence[Subscription]) -> None:
    """Have all of them in the dead-letter queue of each service that hears the topic."""
    for _ in range(ON_EACH_TOPIC // IN_FLIGHT):
        await flood(bus, topic, IN_FLIGHT)
        for each in letters:
            await take_dead_letters(each, topic, IN_FLIGHT)


async def flood_with_queries(bus: Bus, topic: Topic[Any], logged: Malformed) -> None:
    """Have a line in the log for each of them."""
    while (missing := ON_EACH_TOPIC - logged.counts[topic.name]) > 0:
        expected = logged.counts[topic.name] + min(missing, IN_FLIGHT_NOT_PERSISTENT)
        await flood(bus, topic, min(missing, IN_FLIGHT_NOT_PERSISTENT))
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_UNTIL_DROPPED):
                await wait_until(partial(_has, logged, topic.name, expected))


def _has(logged: Malformed, topic: str, expected: int) -> bool:
    return logged.counts[topic] >= expected


async def read_dead_letters(bus: Bus, stack: AsyncExitStack) -> dict[str, Subscription]:
    """Subscribe to the dead letters of every service."""
    return {
        service: await stack.enter_async_context(
            bus.subscribe(dead_letter_address(service), OPERATOR, Mode.SHARED)
        )
        for service in ROAD
    }


@pytest.mark.timeout(1_200)
async def test_malformed_messages_are_told_of_and_do_no_harm(tmp_path: Path) -> None:
    handlers = {service: {topic.name for topic in handled_by(service)} for service in ROAD}

    def hello(_request: ModelRequest) -> Says:
        return Says("Still here.")

    async with (
        scripted_model(script=hello) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
        AsyncExitStack() as stack,
    ):
        logged = Malformed()
        logging.getLogger(results.__name__).addHandler(logged)
        stack.callback(logging.getLogger(results.__name__).removeHandler, logged)
        letters = await read_dead_letters(flow.bus, stack)
        for topic in map(topic_of, all_declared()):
            of_handlers = [letters[each] for each in ROAD if topic.name in handlers[each]]
            if topic.persistent:
                await flood_with_commands(flow.bus, topic, of_handlers)
            else:
                await flood_with_queries(flow.bus, topic, logged)
        assert not any(each.arrived(1) for each in letters.values())
        reply = await client.answer("Are you there?", user="ann")
        stored = await client.facts.store(Scope("ann", "default"), "I live in Oslo")

    assert reply.answer == "Still here."
    assert stored.created
