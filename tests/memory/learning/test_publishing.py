"""How commands are published: some at a time, and none is lost when one of them fails."""

import asyncio
from datetime import UTC, datetime

import pytest

from fourtier.memory.learning.learned import Learned
from fourtier.memory.learning.publishing import publish_learned
from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic


class Watched(Caller):
    """Counts what is published at one time.

    Attributes:
        fails: the id of the message that the broker does not confirm.
    """

    def __init__(self, bus: Bus, fails: str = "") -> None:
        super().__init__(bus)
        self.fails = fails
        self.running = self.highest = 0
        self.published: list[str] = []

    async def publish(self, topic: Topic, message: Message, *, message_id: str = "") -> None:
        self.running += 1
        self.highest = max(self.highest, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if message_id == self.fails:
            raise BusError("not confirmed")
        await super().publish(topic, message, message_id=message_id)
        self.published.append(message_id)


def learned(number: int) -> Learned:
    now = datetime.now(UTC)
    return Learned(
        tuple(
            StoreFactRequest(user="ann", content=f"fact {each}", timestamp=now)
            for each in range(number)
        )
    )


async def test_many_commands_are_published_some_at_a_time() -> None:
    caller = Watched(MemoryBus())
    await publish_learned(caller, Privacy(), "r1", learned(100))

    assert sorted(caller.published) == sorted(f"r1/fact/{number}" for number in range(100))
    assert 1 < caller.highest <= 16


async def test_a_failure_is_raised_when_nothing_is_in_flight_any_more() -> None:
    caller = Watched(MemoryBus(), fails="r1/fact/3")
    with pytest.raises(BusError):
        await publish_learned(caller, Privacy(), "r1", learned(40))

    assert caller.running == 0
    assert len(caller.published) == 15
