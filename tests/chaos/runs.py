"""The runs: asked by several users in several conversations, counted as they finish."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from fourtier.client import Client
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import CallFailedError, FourtierError
from fourtier.schema.message import Scope

USERS = tuple(f"user-{number}" for number in range(4))
#: Of each user.
CONVERSATIONS = 3


@dataclass
class Run:
    """One run and what came of it for the client.

    Attributes:
        number: names it, its invoice and its fact.
        finished: when the last reply came, by the monotonic clock; None when none came.
        left_out: the tiers that it had to do without.
        shed_for: seconds after which it may be asked again, of one that was shed.
        alone: in a conversation of its own.
        user: whose it is, where it is none of `USERS`.
        begun: whether its question may be on the bus.
        forgotten: it was said before it was forgotten, so nothing of it may be left.
        unsure: it was said while others of its kind were forgotten, and may be left or not.
    """

    number: int
    fault: str
    finished: float | None = None
    answer: str = ""
    problem: str = ""
    left_out: frozenset[str] = frozenset()
    shed_for: float | None = None
    alone: bool = False
    user: str = ""
    begun: bool = False
    forgotten: bool = False
    unsure: bool = False

    @property
    def name(self) -> str:
        """As the ledger has it."""
        return f"run-{self.number:05d}"

    @property
    def scope(self) -> Scope:
        """Whose run it is."""
        return Scope(self.user or USERS[self.number % len(USERS)], "default")

    @property
    def stays(self) -> bool:
        """Whether all that it left must be there."""
        return not (self.forgotten or self.unsure)

    @property
    def conversation(self) -> str:
        """Runs of one conversation come one after another."""
        if self.alone:
            return f"talk-of-{self.name}"
        return f"talk-{(self.number // len(USERS) + self.number % len(USERS)) % CONVERSATIONS}"

    @property
    def fact(self) -> str:
        """What is to be remembered of it."""
        return f"I planted tree number {self.number} behind house {self.number * 7}"

    @property
    def question(self) -> str:
        """A statement and a task."""
        return f"{self.fact}. Please pay the invoice {self.name}!"


async def _nothing() -> int:
    return 0


@dataclass
class Load:
    """Asks runs; of each conversation one at a time, the conversations concurrently.

    Attributes:
        replay: publishes all that was published again; how many messages that are.
    """

    client: Client
    runs: list[Run] = field(default_factory=list)
    replay: Callable[[], Awaitable[int]] = field(default=_nothing)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def more(
        self, fault: str, number: int, *, alone: bool = False, users: Sequence[str] = USERS
    ) -> list[Run]:
        """New runs that are to be asked under a fault."""
        first = len(self.runs)
        new = [
            Run(at, fault, alone=alone, user=users[at % len(users)])
            for at in range(first, first + number)
        ]
        self.runs += new
        return new

    def shed(self) -> list[str]:
        """The names of the runs that were shed."""
        return [run.name for run in self.runs if run.shed_for is not None]

    async def ask(self, runs: Sequence[Run]) -> None:
        """Ask them all; returns when each has an answer or a problem."""
        conversations: dict[tuple[Scope, str], list[Run]] = {}
        for run in runs:
            conversations.setdefault((run.scope, run.conversation), []).append(run)
        async with asyncio.TaskGroup() as group:
            for some in conversations.values():
                group.create_task(self._ask_in_turn(some))

    async def _ask_in_turn(self, runs: Sequence[Run]) -> None:
        for run in runs:
            run.begun = True
            try:
                reply = await self.client.answer(
                    run.question, user=run.scope.user, conversation_id=run.conversation
                )
            except (FourtierError, BusError) as error:
                run.problem = str(error)
                if isinstance(error, CallFailedError):
                    run.shed_for = error.retry_after
            else:
                run.answer, run.problem = reply.answer, reply.reason
                run.left_out = frozenset(reply.metadata.tiers_left_out)
                run.finished = time.monotonic()
            async with self._changed:
                self._changed.notify_all()

    async def wait_finished(self, runs: Sequence[Run], number: int) -> None:
        """Wait until so many of the runs have come to an end."""
        async with self._changed:
            await self._changed.wait_for(lambda: sum(map(_is_over, runs)) >= number)

    async def wait_next(self, runs: Sequence[Run], since: float) -> None:
        """Wait until another run has finished since then, or all are over."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: recovery(runs, since) is not None or all(map(_is_over, runs))
            )


def _is_over(run: Run) -> bool:
    return run.finished is not None or bool(run.problem)


def recovery(runs: Sequence[Run], restarted: float) -> float | None:
    """Seconds from a restart until the next run finished; None when none was left to finish."""
    later = [run.finished for run in runs if run.finished and run.finished >= restarted]
    return min(later) - restarted if later else None
