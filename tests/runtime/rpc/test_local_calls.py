"""Calls within one process: what does without the broker, and what does not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fourtier.flows.model import parse_flow
from fourtier.flows.plan import bus_config
from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.local import LocalCalls
from fourtier.runtime.bus.opening import open_bus
from fourtier.runtime.bus.pulsar.consumer import PREFETCH, Consumer
from fourtier.runtime.errors import DeadlineExceededError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.pending_call import _MAX_UNREAD
from fourtier.runtime.rpc.routes import call_batch_route, call_route, stream_route
from fourtier.runtime.settings import Settings
from fourtier.schema.topics import Call, Topic
from tests.runtime.rpc.support import NOTED, READ, STREAM, WRITE, FailingBus, Note, Reply, served

QUESTION = Note(key="k", number=1)


class Watched(FailingBus):
    """A bus that knows what was published on it, and over which local calls go by themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.local = LocalCalls()


async def reply(note: Note) -> Reply:
    return Reply(number=note.number)


async def replies(notes: list[Note]) -> list[Reply]:
    return [Reply(number=note.number) for note in notes]


async def test_a_query_and_its_answer_are_handed_over_as_they_are() -> None:
    bus, asked, answer = Watched(), list[Note](), Reply(number=7)

    async def read(note: Note) -> Reply:
        asked.append(note)
        return answer

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        assert await caller.call(READ, QUESTION) is answer

    assert asked[0] is QUESTION
    assert bus.published == []


async def test_a_command_is_published_and_its_answer_handed_over() -> None:
    bus = Watched()
    async with served(bus, call_batch_route(WRITE, replies)), open_caller(bus) as caller:
        assert (await caller.call(WRITE, QUESTION)).number == 1
    assert bus.published == [WRITE.topic.name]


async def test_an_event_is_published() -> None:
    bus = Watched()
    async with open_caller(bus) as caller:
        await caller.publish(NOTED, QUESTION)
    assert bus.published == [NOTED.name]


async def test_what_is_served_elsewhere_goes_by_the_broker() -> None:
    bus, elsewhere = Watched(), Watched()
    elsewhere.publish = bus.publish  # type: ignore[method-assign]
    elsewhere.subscribe = bus.subscribe  # type: ignore[method-assign]
    async with served(elsewhere, call_route(READ, reply)), open_caller(bus) as caller:
        assert (await caller.call(READ, QUESTION)).number == 1
    assert bus.published == [READ.topic.name, caller.inbox.name]


async def test_after_its_service_has_gone_a_query_goes_by_the_broker() -> None:
    bus = Watched()
    soon = Call(READ.topic, Reply, deadline=0.02)
    async with open_caller(bus) as caller:
        async with served(bus, call_route(READ, reply)):
            assert (await caller.call(soon, QUESTION)).number == 1
        with pytest.raises(DeadlineExceededError):
            await caller.call(soon, QUESTION)
    assert set(bus.published) == {READ.topic.name}


async def test_replicas_in_one_process_take_turns() -> None:
    bus, asked = Watched(), list[str]()

    async def first(note: Note) -> Reply:
        asked.append("first")
        return Reply(number=note.number)

    async def second(note: Note) -> Reply:
        asked.append("second")
        return Reply(number=note.number)

    async with (
        served(bus, call_route(READ, first)),
        served(bus, call_route(READ, second)),
        open_caller(bus) as caller,
    ):
        for _ in range(4):
            await caller.call(READ, QUESTION)
    assert sorted(asked) == ["first", "first", "second", "second"]


async def test_a_stream_that_never_waits_lets_its_caller_read() -> None:
    bus, pieces = Watched(), _MAX_UNREAD + 500

    async def stream(note: Note) -> AsyncIterator[Reply]:
        for number in range(note.number):
            yield Reply(number=number, last=number == note.number - 1)

    async with served(bus, stream_route(STREAM, stream)), open_caller(bus) as caller:
        numbers = [
            each.number async for each in caller.stream(STREAM, Note(key="k", number=pieces))
        ]
    assert numbers == list(range(pieces))


async def test_an_answer_of_another_class_is_read_as_the_call_says() -> None:
    class Longer(Reply):
        more: str = "not for the caller"

    bus = Watched()

    async def read(note: Note) -> Longer:
        return Longer(number=note.number)

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        assert type(await caller.call(READ, QUESTION)) is Reply


async def test_where_there_is_no_room_the_broker_takes_the_question() -> None:
    consumer, local = Consumer(persistent=False), LocalCalls()
    address = Address("test.read", persistent=False)
    with local.serving(address, consumer):
        taken = [local.ask(address, QUESTION, "", {}) for _ in range(PREFETCH + 1)]
    assert taken == [True] * PREFETCH + [False]
    here = consumer.arrived(2 * PREFETCH)
    assert [delivery.message for delivery in here] == [QUESTION] * PREFETCH
    assert not local.ask(address, QUESTION, "", {})


async def test_a_question_is_not_changed_by_what_its_caller_does_with_its_properties() -> None:
    consumer, local = Consumer(persistent=False), LocalCalls()
    address, properties = Address("test.read", persistent=False), {"timeout-ms": "1000"}
    with local.serving(address, consumer):
        local.ask(address, QUESTION, "", properties)
    properties["timeout-ms"] = "1"
    assert (await consumer.receive()).properties == {"timeout-ms": "1000"}


async def test_what_is_to_be_stored_is_never_handed_over() -> None:
    consumer, local = Consumer(persistent=True), LocalCalls()
    topic = Topic("test.read", Note)
    with local.serving(Address(topic.name), consumer):
        assert not local.ask(Address(topic.name), QUESTION, "", {})
        assert not local.ask(Address(topic.name, persistent=False), QUESTION, "", {})


async def test_an_answer_nobody_waits_for_is_dropped() -> None:
    bus, begun, go_on = Watched(), asyncio.Event(), asyncio.Event()

    async def read(note: Note) -> Reply:
        begun.set()
        await go_on.wait()
        return Reply(number=note.number)

    async with served(bus, call_route(READ, read)), open_caller(bus) as caller:
        asking = asyncio.create_task(caller.call(READ, QUESTION))
        await begun.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        go_on.set()
        assert (await caller.call(READ, Note(key="k", number=2))).number == 2


@pytest.mark.parametrize(
    ("section", "local"),
    [("{}", True), ("{local-calls: false}", False), ("{local-calls: on}", True)],
)
async def test_a_flow_says_whether_calls_are_local(
    tmp_path: Path, section: str, local: bool
) -> None:
    text = f"name: test\nbus: {section}\nservices: {{embeddings: }}\n"
    flow = parse_flow(text, "flow.yaml")
    async with open_bus(bus_config(flow, Settings(data=tmp_path, bus_url="memory://"))) as (bus, _):
        assert (bus.local is not None) is local
