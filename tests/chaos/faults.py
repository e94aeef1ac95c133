"""What is done to the flow, and putting it right again."""

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.flow import ChaosFlow
from tests.chaos.runs import USERS, Load, Run, recovery

Deed = Callable[[ChaosFlow], Awaitable[None]]

#: Up to how many seconds after a run has ended a fault strikes.
_MAX_DELAY = 0.15
#: So many runs may find the engines cold, or not got over the fault before.
_COLD = 20


async def _nothing_more(_flow: ChaosFlow, _load: Load, _runs: Sequence[Run]) -> None:
    pass


@dataclass(frozen=True)
class Fault:
    """Something that happens while runs are under way.

    Attributes:
        strike: makes it happen.
        heal: puts it right; returns when that is done.
        times: how often, spread over the runs.
        lasts: seconds from the one to the other.
        expected: finds what else should have come of it and did not.
        amid: done while it strikes and is healed.
        users: whose runs are asked under it.
    """

    name: str
    strike: Deed
    heal: Deed
    times: int = 1
    lasts: float = 0.0
    expected: Callable[[ChaosFlow, Sequence[Run]], Sequence[str]] = lambda _flow, _runs: ()
    amid: Callable[[ChaosFlow, Load, Sequence[Run]], Coroutine[Any, Any, None]] = _nothing_more
    users: Sequence[str] = USERS


@dataclass
class Endured:
    """A fault that is over.

    Attributes:
        recoveries: seconds from each healing until the next run finished.
        problems: what is wrong besides what the runs left behind.
        note: what else is worth telling.
    """

    fault: Fault
    runs: Sequence[Run]
    took: float
    recoveries: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    note: str = ""


async def _do_nothing(_flow: ChaosFlow) -> None:
    pass


def nothing(name: str) -> Fault:
    """No fault, under a name."""
    return Fault(name, _do_nothing, _do_nothing, times=0)


#: What the other faults are compared with.
NOTHING = nothing("nothing")


def killed(name: str, *, times: int = 1, lasts: float = 0.0) -> Fault:
    """`kill -9` of a service or an engine, and its start."""

    async def strike(flow: ChaosFlow) -> None:
        await flow.servers[name].kill()

    async def heal(flow: ChaosFlow) -> None:
        await flow.servers[name].start()

    return Fault(f"kill -9 {name}", strike, heal, times, lasts)


def hung(name: str, *, lasts: float) -> Fault:
    """A process that holds its connections and does nothing."""

    async def strike(flow: ChaosFlow) -> None:
        flow.servers[name].signal(signal.SIGSTOP)

    async def heal(flow: ChaosFlow) -> None:
        flow.servers[name].signal(signal.SIGCONT)

    def announced(_flow: ChaosFlow, runs: Sequence[Run]) -> Sequence[str]:
        if any(name in run.left_out for run in runs):
            return ()
        return [f"no answer says that it was made without {name}"]

    return Fault(f"{name} hangs", strike, heal, lasts=lasts, expected=announced)


def slow_model(*, lasts: float) -> Fault:
    """A model that takes its time; it must not be asked twice because of that."""

    async def strike(flow: ChaosFlow) -> None:
        flow.script.hold()

    async def heal(flow: ChaosFlow) -> None:
        flow.script.go_on()

    def asked_once(flow: ChaosFlow, runs: Sequence[Run]) -> Sequence[str]:
        names = {run.name for run in runs}
        return [
            f"{name}: step {step} was asked for {times} times"
            for (name, step), times in flow.script.asked.items()
            if name in names and times > 1
        ]

    return Fault("slow model", strike, heal, lasts=lasts, expected=asked_once)


async def endure(flow: ChaosFlow, load: Load, fault: Fault, number: int, within: float) -> Endured:
    """Ask runs, let the fault strike among them, and wait for the last of them.

    It begins when the flow has got over the fault before. What has not finished within so many
    seconds stays unfinished.
    """
    calm = await _until_whole(load, fault.name)
    began = time.monotonic()
    runs = load.more(fault.name, number, users=fault.users)
    recoveries: list[float] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(within), asyncio.TaskGroup() as group:
            group.create_task(load.ask(runs))
            for time_ in range(fault.times):
                # A fault that strikes when all is over shows nothing, so that never waits for it.
                before = max(1, number * (time_ + 1) // (fault.times + 2))
                await load.wait_finished(runs, before)
                await asyncio.sleep(random.uniform(0, _MAX_DELAY))  # noqa: S311 - no secret
                async with asyncio.TaskGroup() as amid:
                    amid.create_task(fault.amid(flow, load, runs))
                    try:
                        await fault.strike(flow)
                        await asyncio.sleep(fault.lasts)
                    finally:
                        restarted = time.monotonic()
                        await fault.heal(flow)
                await load.wait_next(runs, restarted)
                if (seconds := recovery(runs, restarted)) is not None:
                    recoveries.append(seconds)
    took = time.monotonic() - began
    return Endured(fault, [*calm, *runs], took, recoveries, list(fault.expected(flow, runs)))


async def warm_up(load: Load) -> Endured:
    """See that the flow answers; real engines are slow at first."""
    began = time.monotonic()
    runs = await _until_whole(load, "cold start")
    return Endured(nothing("cold start"), runs, time.monotonic() - began)


async def _until_whole(load: Load, name: str) -> list[Run]:
    """Ask runs one by one until one of them had every tier."""
    runs: list[Run] = []
    while len(runs) < _COLD and (not runs or runs[-1].left_out or runs[-1].problem):
        runs += load.more(name, 1)
        await load.ask(runs[-1:])
        if (seconds := runs[-1].shed_for) is not None:
            await asyncio.sleep(seconds)
    return runs
