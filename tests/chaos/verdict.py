"""What is there at the end, held against what should be."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fourtier.client import Client
from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.dead_letters import DeadLetter, list_dead_letters
from fourtier.runtime.errors import FourtierError
from fourtier.schema.message import Scope
from tests.chaos.flow import SERVICES
from tests.chaos.runs import USERS, Run
from tests.chaos.script import Script
from tests.chaos.tools import uses
from tests.support.waiting import wait_until

_TREE = re.compile(r"tree number (\d+) ")
_INVOICE = re.compile(r"run-(\d+)")
_PAGE = 1_000
#: Seconds between two looks: they cost the services work.
_PAUSE = 0.5
#: What the agent says of a payment that it does not know to have been made.
_UNKNOWN = re.compile(r"Whether it took effect is unknown|was not run|did not finish|failed:")


@dataclass
class Findings:
    """How often each run's number was found in each place."""

    facts: Counter[int] = field(default_factory=Counter)
    records: Counter[int] = field(default_factory=Counter)
    episodes: Counter[int] = field(default_factory=Counter)
    order: dict[tuple[Scope, str], list[int]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)

    @property
    def places(self) -> dict[str, Counter[int]]:
        """What each run should have left once."""
        return {"fact": self.facts, "record": self.records, "episode": self.episodes}


async def look(client: Client, runs: Iterable[Run]) -> Findings:
    """Read all facts, records and episodes of the users of the runs."""
    found = Findings()
    for user in USERS:
        scope = Scope(user, "default")
        found.facts.update([number async for number in _facts(client, scope)])
        found.episodes.update([number async for number in _episodes(client, scope)])
    taken = [run for run in runs if run.refused_for is None]
    for scope, conversation in dict.fromkeys((run.scope, run.conversation) for run in taken):
        record = await client.conversations.get(scope, conversation)
        numbers = [int(_INVOICE.findall(each.query)[0]) for each in record.invocations]
        found.records.update(numbers)
        found.order[scope, conversation] = numbers
        found.answers |= dict(
            zip(numbers, (each.result for each in record.invocations), strict=True)
        )
    return found


async def _facts(client: Client, scope: Scope) -> AsyncIterator[int]:
    offset, total = 0, 1
    while offset < total:
        page = await client.facts.list(scope, limit=_PAGE, offset=offset, include_superseded=True)
        for fact in page.facts:
            yield int(_TREE.findall(fact.content)[0])
        offset, total = offset + _PAGE, page.total


async def _episodes(client: Client, scope: Scope) -> AsyncIterator[int]:
    offset, total = 0, 1
    while offset < total:
        page = await client.episodes.list(scope, limit=_PAGE, offset=offset)
        for episode in page.episodes:
            if "run_id" in episode.metadata:  # and not of a whole conversation
                yield int(_INVOICE.findall(episode.goal)[0])
        offset, total = offset + _PAGE, page.total


async def settled(client: Client, runs: Sequence[Run], within: float) -> Findings:
    """What memory holds once it has everything, or when nothing more has come for a while."""
    everything = {run.number for run in runs if run.answer}
    found, known, grew = Findings(), -1, time.monotonic()

    async def is_settled() -> bool:
        nonlocal found, known, grew
        await asyncio.sleep(_PAUSE)
        try:
            found = await look(client, runs)
        except FourtierError:  # a service has not recovered yet
            return time.monotonic() - grew > within
        number = len(found.facts) + len(found.records) + len(found.episodes)
        if number > known:
            known, grew = number, time.monotonic()
        complete = all(everything <= set(counted) for counted in found.places.values())
        return complete or time.monotonic() - grew > within

    await wait_until(is_settled, within=10 * within)
    return found


async def dead_letters(bus: Bus) -> list[str]:
    """One line for each dead letter of any service."""
    return [
        f"{service}: {letter.topic}: {letter.error}"
        for service in SERVICES
        for letter in await _letters(bus, service)
    ]


async def _letters(bus: Bus, service: str) -> list[DeadLetter]:
    """The letters; a broker that was killed may take a minute to open a topic nobody has used."""
    try:
        return await list_dead_letters(bus, service)
    except BusError:
        return await list_dead_letters(bus, service)


@dataclass(frozen=True)
class Verdict:
    """What is wrong, run by run; and the runs that were told to know nothing of their payment."""

    lost: dict[int, str]
    doubled: dict[int, str]
    unknown: frozenset[int]


def judge(ledger: Path, script: Script, runs: Sequence[Run], found: Findings) -> Verdict:
    """Hold what was found against what each run should have left."""
    paid = Counter(uses(ledger, "pay"))
    told = {name for name, words in script.shown.items() if _UNKNOWN.search(words)}
    taken = [run for run in runs if run.refused_for is None]
    lost = {run.number: ", ".join(_lost(run, found, paid, told)) for run in taken}
    doubled = {run.number: ", ".join(_doubled(run, found, paid)) for run in runs}
    for numbers in found.order.values():
        if numbers != sorted(numbers):
            doubled[numbers[0]] += f" recorded out of order: {numbers}"
    return Verdict(
        lost={number: words for number, words in lost.items() if words},
        doubled={number: words for number, words in doubled.items() if words},
        unknown=frozenset(run.number for run in runs if run.name in told),
    )


def _lost(run: Run, found: Findings, paid: Counter[str], told: Container[str]) -> Iterator[str]:
    if not run.answer:
        yield f"no answer ({run.problem or 'not finished in time'})"
        return
    for what, counted in found.places.items():
        if counted[run.number] == 0:
            yield f"no {what}"
    if paid[run.name] == 0 and run.name not in told:
        yield "not paid, and not told so"


def _doubled(run: Run, found: Findings, paid: Counter[str]) -> Iterator[str]:
    if run.refused_for is not None and (paid[run.name] or found.facts[run.number]):
        yield "refused, and done"
    for what, counted in found.places.items():
        if counted[run.number] > 1:
            yield f"{what} {counted[run.number]} times"
    if paid[run.name] > 1:
        yield f"paid {paid[run.name]} times"
    kept = found.answers.get(run.number)
    if run.answer and kept and kept != run.answer:
        yield f"answered {run.answer!r}, recorded {kept!r}"
