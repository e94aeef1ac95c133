"""Runs that are asked without waiting for answers, so that they queue up behind each other."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from fourtier.runtime.bus.contract import Address, Bus, Mode, Subscription
from fourtier.runtime.rpc import envelope
from fourtier.schema.agent import (
    AGENT_REQUEST,
    INVOCATION_ENDED,
    AgentRequest,
    AgentResponse,
    InvocationEnded,
)
from tests.chaos.runs import Run
from tests.replicas.flow import ReplicatedFlow
from tests.support.waiting import wait_until

#: What one answer to all runs of a test may take; two processors start 27 processes meanwhile.
_TIMEOUT = 120.0


@dataclass
class Asked:
    """Runs, and what the agents say of them.

    Attributes:
        runs: in the order in which they were sent.
        finals: the last replies to each, by its name; there should be one.
        ended: the events of each conversation, in the order in which they were published.
    """

    flow: ReplicatedFlow
    bus: Bus
    inbox: Address
    runs: list[Run] = field(default_factory=list)
    finals: defaultdict[str, list[AgentResponse]] = field(default_factory=lambda: defaultdict(list))
    ended: defaultdict[str, list[InvocationEnded]] = field(
        default_factory=lambda: defaultdict(list)
    )

    _by_name: dict[str, Run] = field(default_factory=dict)

    async def ask(self, number: int, *, alone: bool = False) -> list[Run]:
        """Send questions, each once the broker has the one before; `alone` in new conversations."""
        topic = AGENT_REQUEST.topic
        assert topic.key is not None
        new = [Run(next(self.flow.numbers), "", alone=alone) for _ in range(number)]
        self.runs += new
        self._by_name |= {run.name: run for run in new}
        for run in new:
            request = _request(run)
            properties = {
                **envelope.properties_for(request),
                envelope.ID: run.name,
                envelope.REPLY_TO: self.inbox.name,
            }
            await self.bus.publish(
                Address(topic.name, persistent=topic.persistent),
                request.model_dump_json().encode(),
                key=topic.key(request),
                properties=properties,
            )
        return new

    async def ask_with_runs_in_flight(self, conversations: int) -> list[Run]:
        """Send two questions in each of so many conversations; the first ones.

        All of these have asked the model then, which holds its answers back until it may go on.
        """
        self.flow.script.hold()
        first = await self.ask(conversations)
        await self.ask(conversations)
        names = {run.name for run in first}
        await self._wait_until(lambda: names <= self._begun())
        return first

    async def finished(self, number: int) -> None:
        """Wait until so many runs have got their last reply, and their events were published."""
        await self._wait_until(
            lambda: min(len(self.finals), sum(map(len, self.ended.values()))) >= number
        )

    async def _wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait, and see to it meanwhile that no run begins before the one before it is answered."""

        def holds() -> bool:
            begun = self._begun()
            for runs in self.by_conversation().values():
                for before, run in pairwise(runs):
                    early = run.name in begun and not self.flow.script.answered[before.name]
                    assert not early, f"{run.name} has begun before {before.name} was answered"
            return condition()

        await wait_until(holds, within=_TIMEOUT)

    def _begun(self) -> set[str]:
        return {name for name, _ in self.flow.script.asked}

    def by_conversation(self) -> dict[str, list[Run]]:
        """The runs of each conversation, in the order in which they were sent."""
        conversations: defaultdict[str, list[Run]] = defaultdict(list)
        for run in self.runs:
            conversations[f"{run.scope.user}/{run.conversation}"].append(run)
        return conversations

    async def receive_replies(self, inbox: Subscription) -> None:
        """Collect the last replies."""
        while True:
            delivery = await inbox.receive()
            reply = AgentResponse.model_validate_json(delivery.payload)
            if reply.end_of_dialog:
                name = delivery.properties[envelope.ID]
                self.finals[name].append(reply)
                self._by_name[name].answer = "" if reply.error else reply.content

    async def receive_events(self, events: Subscription) -> None:
        """Collect the ends of runs."""
        while True:
            delivery = await events.receive()
            event = InvocationEnded.model_validate_json(delivery.payload)
            if event.run_id in self._by_name:
                self.ended[f"{event.user}/{event.conversation_id}"].append(event)
            await delivery.acknowledge()


def _request(run: Run) -> AgentRequest:
    return AgentRequest(
        question=run.question,
        user=run.scope.user,
        collection=run.scope.collection,
        conversation_id=run.conversation,
        enable_memory=True,
        request_id=run.name,
    )


@asynccontextmanager
async def asking(flow: ReplicatedFlow) -> AsyncGenerator[Asked]:
    """A client that sends questions, and receives the events that memory receives."""
    name = envelope.new_id()
    async with flow.connected() as bus:
        asked = Asked(flow, bus, Address(f"inbox.{name}", persistent=False))
        events = Address(INVOCATION_ENDED.name, persistent=INVOCATION_ENDED.persistent)
        async with (
            bus.subscribe(asked.inbox, "caller", Mode.EXCLUSIVE) as inbox,
            bus.subscribe(events, f"test-{name}", Mode.EXCLUSIVE) as ended,
            asyncio.TaskGroup() as group,
        ):
            receiving = [
                group.create_task(asked.receive_replies(inbox)),
                group.create_task(asked.receive_events(ended)),
            ]
            yield asked
            for task in receiving:
                task.cancel()
