"""Every durable message of the flow, noted as it comes, and published again."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fourtier.operations.dead_letters import replay_dead_letters
from fourtier.runtime.bus.contract import Address, Bus, BusError, Delivery, Mode
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address, dead_letter_properties
from fourtier.runtime.service.registry import declared_handlers
from fourtier.schema.topics import Topic
from tests.chaos.faults import Fault
from tests.chaos.flow import SERVICES, ChaosFlow
from tests.chaos.runs import Load, Run

#: The subscription that reads along.
GROUP = "chaos"
_AT_ONCE = 50
#: Seconds between so many: who replays for hours what came in hours does not flood the flow either.
_PAUSE = 0.2
#: What `floods` publishes: it is a dead letter whenever it comes.
MALFORMED = b"{"
#: Of so many messages one is made a dead letter, and replayed as an operator does.
_DEAD_OF = 5
#: Of the caller, who does not wait for an answer any more.
_CALLERS = {envelope.REPLY_TO, envelope.TIMEOUT}
_AGAIN = 0.2


def _topics() -> dict[str, tuple[str, Topic[Any]]]:
    """Each durable topic with one of the services that handle it."""
    return {
        handler.topic.name: (service, handler.topic)
        for service, handler in declared_handlers(list(SERVICES))
        if handler.topic.persistent
    }


#: The name of a topic, and a message of it.
_Noted = tuple[str, Delivery]


@dataclass
class Tape:
    """What was published on the durable topics, oldest first for each topic.

    Attributes:
        replayed: how many messages were published again.
    """

    messages: list[_Noted] = field(default_factory=list)
    replayed: int = 0

    async def replay(self, bus: Bus, *, without: Sequence[str] = ()) -> int:
        """Publish all of it again, each with the time when it was said; some as dead letters.

        Args:
            bus: of the flow.
            without: names of questions that were shed: sent again, they would be answered now.
        """
        messages, topics = tuple(self.messages), _topics()
        # What is replayed is noted too, and what services publish because of it, some of it with
        # another time in it; once is enough.
        first = _each_once(_each_once(messages, _by_payload), _by_id)
        shed = [f"{name}!".encode() for name in without]
        first = [each for each in first if not any(name in each[1].payload for name in shed)]
        for at in range(0, len(first), _AT_ONCE):
            some = first[at : at + _AT_ONCE]
            await asyncio.sleep(_PAUSE)
            await asyncio.gather(
                *(
                    _again(bus, name, each, *topics[name], dead=number % _DEAD_OF == 0)
                    for number, (name, each) in enumerate(some, at)
                )
            )
        for service in SERVICES:
            await replay_dead_letters(bus, service, wanted=lambda dead: _MARK in dead.properties)
        self.replayed += len(first)
        return len(first)


def _each_once(
    messages: Sequence[_Noted], name_of: Callable[[_Noted], Hashable]
) -> Sequence[_Noted]:
    """The first of those that have one name."""
    return list({name_of(each): each for each in reversed(messages)}.values())[::-1]


def _by_payload(noted: _Noted) -> Hashable:
    name, delivery = noted
    return name, delivery.payload


def _by_id(noted: _Noted) -> Hashable:
    name, delivery = noted
    return name, delivery.properties.get(envelope.ID, delivery.payload)


#: A property of what was published again.
_MARK = "chaos-replay"


async def _again(
    bus: Bus, name: str, each: Delivery, service: str, topic: Topic[Any], *, dead: bool
) -> None:
    properties = {key: value for key, value in each.properties.items() if key not in _CALLERS}
    properties |= {envelope.SENT_AT: str(envelope.first_sent_at(each)), _MARK: "1"}
    address = Address(name)
    if dead:
        properties |= dead_letter_properties(topic, each, "chaos", 1) | properties
        address = dead_letter_address(service)
    await _published(bus, address, each, properties)


async def _published(
    bus: Bus, address: Address, each: Delivery, properties: dict[str, str]
) -> None:
    while True:
        try:
            await bus.publish(address, each.payload, key=each.key, properties=properties)
        except BusError:
            await asyncio.sleep(_AGAIN)
        else:
            return


def replayed(*, times: int) -> Fault:
    """All that was ever published is published again, in the middle of the load."""

    async def nothing(_flow: ChaosFlow) -> None:
        pass

    async def replay(_flow: ChaosFlow, load: Load, _runs: Sequence[Run]) -> None:
        await load.replay()

    return Fault("replay", nothing, nothing, times, amid=replay)


@asynccontextmanager
async def taped(bus: Bus) -> AsyncGenerator[Tape]:
    """Read along on every durable topic, from its start, whatever becomes of the broker."""
    tape = Tape()
    async with asyncio.TaskGroup() as group:
        reading = [group.create_task(_read(bus, name, tape)) for name in _topics()]
        try:
            yield tape
        finally:
            for task in reading:
                task.cancel()


async def _read(bus: Bus, name: str, tape: Tape) -> None:
    while True:
        try:
            async with bus.subscribe(Address(name), GROUP, Mode.SHARED) as subscription:
                while True:
                    delivery = await subscription.receive()
                    if delivery.payload != MALFORMED:
                        tape.messages.append((name, delivery))
                    await delivery.acknowledge()
        except BusError:
            await asyncio.sleep(_AGAIN)
