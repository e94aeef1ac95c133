"""Conversations that ask one question after another, and what that costs."""

import asyncio
import itertools
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.deployments import Deployment

from fourtier.client import Client
from fourtier.schema.message import Scope
from tests.support.usage import Usage, machine_busy, processors, usage_of

#: Seconds between two looks at whether memory has everything; a look costs work too.
_PAUSE = 0.25


@dataclass(frozen=True)
class Asked:
    """One run: its milliseconds, and whether it had all tiers of memory."""

    latency: float
    whole: bool


@dataclass(frozen=True)
class Measured:
    """What came of one number of replicas.

    Attributes:
        seconds: all runs together.
        behind: seconds after the last answer until memory had everything.
        busy: the share of all processors that was in use while runs were asked.
        cpu: seconds of each kind of process until memory had everything.
        share: of one processor, of the busiest of each kind, while runs were asked.
        resident: MiB of the biggest of each kind, at the end.
    """

    replicas: int
    runs: Sequence[Asked]
    seconds: float
    behind: float
    busy: float
    cpu: Mapping[str, float]
    share: Mapping[str, float]
    resident: Mapping[str, int]

    @property
    def rate(self) -> float:
        """Runs in a second."""
        return len(self.runs) / self.seconds

    @property
    def partial(self) -> int:
        """Runs that had to go without a tier."""
        return sum(not run.whole for run in self.runs)

    def quantile(self, percent: int) -> float:
        """Milliseconds within which so many percent of the runs were answered."""
        return statistics.quantiles([run.latency for run in self.runs], n=100)[percent - 1]

    def cpu_for_a_run(self, name: str) -> float:
        """Milliseconds."""
        return self.cpu[name] * 1_000 / len(self.runs)


async def measure(
    client: Client, deployment: Deployment, replicas: int, conversations: int, runs: int
) -> Measured:
    """Ask so many runs, in so many conversations of new users."""
    users = [f"user-{replicas}-{number}" for number in range(conversations)]
    numbers = itertools.count()
    warm_up = runs // 2
    await _ask(client, users, itertools.islice(numbers, warm_up))
    await _caught_up(client, users, warm_up)

    before, busy, began = _usages(deployment), machine_busy(), time.monotonic()
    measured = await _ask(client, users, itertools.islice(numbers, runs))
    seconds = time.monotonic() - began
    busy, asked = machine_busy() - busy, _usages(deployment)
    await _caught_up(client, users, warm_up + runs)
    behind, after = time.monotonic() - began - seconds, _usages(deployment)
    return Measured(
        replicas,
        measured,
        seconds,
        behind,
        busy / seconds / processors(),
        cpu={name: sum(_spent(before[name], after[name])) for name in before},
        share={name: max(_spent(before[name], asked[name])) / seconds for name in before},
        resident={name: max(each.resident for each in after[name]) for name in before},
    )


async def _ask(client: Client, users: Sequence[str], numbers: Iterable[int]) -> list[Asked]:
    """Ask each number once, by whichever user is free."""
    asked: list[Asked] = []
    left = iter(numbers)

    async def converse(user: str) -> None:
        for number in left:
            began = time.monotonic()
            question = f"I planted tree number {number} behind house {number * 7}"
            reply = await client.answer(question, user=user, conversation_id="bench")
            if reply.error:
                raise RuntimeError(reply.reason)
            whole = not reply.metadata.tiers_left_out
            asked.append(Asked((time.monotonic() - began) * 1_000, whole=whole))

    async with asyncio.TaskGroup() as group:
        for user in users:
            group.create_task(converse(user))
    return asked


async def _caught_up(client: Client, users: Sequence[str], facts: int) -> None:
    """Wait until memory has a fact of each question."""
    while True:
        pages = await asyncio.gather(
            *(client.facts.list(Scope(user, "default"), limit=1) for user in users)
        )
        if sum(page.total for page in pages) >= facts:
            return
        await asyncio.sleep(_PAUSE)


def _usages(deployment: Deployment) -> dict[str, list[Usage]]:
    return {name: list(map(usage_of, pids)) for name, pids in deployment.processes().items()}


def _spent(before: Sequence[Usage], after: Sequence[Usage]) -> list[float]:
    return [then.cpu - now.cpu for now, then in zip(before, after, strict=True)]
