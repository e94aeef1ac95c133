"""Too much of what is wrong, and too much of what is right."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.runtime.bus.contract import Address, Bus, Mode
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc.admission import HEADROOM
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR, dead_letter_address
from fourtier.schema.agent import AGENT_REQUEST
from tests.chaos.faults import Endured, Fault, nothing
from tests.chaos.flow import NAMESPACE, TENANT, ChaosFlow
from tests.chaos.replay import MALFORMED as WRONG
from tests.chaos.runs import Load
from tests.support.usage import resident_mib

MALFORMED = 10_000
_AT_ONCE = 100
#: What the agent's process may grow by, in MiB, however many questions come.
_MAY_GROW_BY = 100
_TIMES = 10


@asynccontextmanager
async def bus_of(flow: ChaosFlow) -> AsyncGenerator[Bus]:
    """A connection of its own."""
    async with connect_pulsar(
        flow.bus_url, TENANT, NAMESPACE, security=PulsarSecurity(), log_file="/dev/null"
    ) as bus:
        yield bus


def malformed() -> Fault:
    """Malformed messages on the agent's topic; each must be found in its dead letters."""

    async def flood(flow: ChaosFlow) -> None:
        address = Address(AGENT_REQUEST.topic.name)
        async with bus_of(flow) as bus:
            for first in range(0, MALFORMED, _AT_ONCE):
                keys = (f"k{at % 7}" for at in range(first, first + _AT_ONCE))
                await asyncio.gather(*(bus.publish(address, WRONG, key=key) for key in keys))

    async def clear(flow: ChaosFlow) -> None:
        async with (
            bus_of(flow) as bus,
            bus.subscribe(dead_letter_address("agent"), OPERATOR, Mode.SHARED) as dead_letters,
        ):
            for _ in range(MALFORMED):
                dead_letter = await dead_letters.receive()
                properties = dead_letter.properties
                assert properties["dead-error"].startswith("malformed"), properties
                await dead_letter.acknowledge()

    return Fault(f"{MALFORMED:,} malformed messages", flood, clear)


async def overload(flow: ChaosFlow, load: Load, within: float) -> Endured:
    """Ask ten times what the agent takes on, while its model is too slow to answer any.

    On a busy machine questions that are old when they arrive are taken on beyond the limit, up to
    `HEADROOM` times it; then the model goes on after half of the time, for no more are shed.
    """
    began = time.monotonic()
    takes_on = AgentParameters().max_runs_in_flight
    fault = nothing(f"{_TIMES} times the load")
    runs = load.more(fault.name, _TIMES * takes_on, alone=True)
    before = resident_mib(flow.servers["agent"].pid)
    with suppress(TimeoutError):
        async with asyncio.timeout(within), asyncio.TaskGroup() as group:
            flow.script.hold()
            group.create_task(load.ask(runs))
            with suppress(TimeoutError):
                async with asyncio.timeout(within / 2):
                    await load.wait_finished(runs, len(runs) - takes_on)
            flow.script.go_on()
    flow.script.go_on()
    endured = Endured(fault, runs, time.monotonic() - began)
    shed = [run for run in runs if run.shed_for is not None]
    grown = resident_mib(flow.servers["agent"].pid) - before
    endured.note = f"{len(shed)} shed, the agent grew by {grown} of {before} MiB"
    if not len(runs) - HEADROOM * takes_on <= len(shed) <= len(runs) - takes_on:
        endured.problems.append(f"{len(shed)} of {len(runs)} were shed")
    if grown > _MAY_GROW_BY:
        endured.problems.append(f"the agent grew by {grown} MiB")
    return endured
