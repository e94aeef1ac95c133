"""What memory holds at the end."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fourtier.client import Client
from fourtier.runtime.errors import FourtierError
from fourtier.schema.episodes import Episode
from fourtier.schema.message import Scope
from fourtier.schema.status import StatusRequest, status_of
from tests.chaos.runs import Run
from tests.support.waiting import wait_until

_TREE = re.compile(r"tree number (\d+) ")
_INVOICE = re.compile(r"run-(\d+)")
_PAGE = 1_000
#: A shorter conversation is not promoted.
_MIN_INVOCATIONS = 2
#: Seconds between two looks: they cost the services work.
_PAUSE = 0.5

Conversation = tuple[Scope, str]


@dataclass
class Findings:
    """How often each run's number was found in each store.

    Attributes:
        order: the runs of each conversation as its record has them.
        promoted: conversation to how many invocations its episodes were made of.
        reported: how often a run is told of in episodes of whole conversations.
    """

    facts: Counter[int] = field(default_factory=Counter)
    records: Counter[int] = field(default_factory=Counter)
    episodes: Counter[int] = field(default_factory=Counter)
    order: dict[Conversation, list[int]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    promoted: dict[Conversation, list[int]] = field(default_factory=dict)
    reported: Counter[int] = field(default_factory=Counter)

    @property
    def stored(self) -> dict[str, Counter[int]]:
        """What each run should have left once."""
        return {"fact": self.facts, "record": self.records, "episode": self.episodes}

    def left(self, number: int) -> Iterator[str]:
        """Where something of a run is."""
        for what, counted in {**self.stored, "episode of its conversation": self.reported}.items():
            if counted[number]:
                yield what

    def not_promoted(self, runs: Iterable[Run]) -> Iterator[tuple[int, str]]:
        """The last run of each conversation that has not one episode of it all, and why not.

        Conversations of which something was forgotten are another matter.
        """
        cut = {(run.scope, run.conversation) for run in runs if not run.stays}
        for conversation, numbers in self.order.items():
            if conversation in cut:
                continue
            found = self.promoted.get(conversation, [])
            if len(numbers) >= _MIN_INVOCATIONS and found != [len(numbers)]:
                yield numbers[-1], f"episodes of its {len(numbers)} invocations are of {found}"


async def look(client: Client, runs: Iterable[Run]) -> Findings:
    """Read all facts, records and episodes of the users of the runs."""
    found = Findings()
    runs = list(runs)
    for scope in dict.fromkeys(run.scope for run in runs):
        found.facts.update([number async for number in _facts(client, scope)])
        async for episode in _episodes(client, scope):
            if "run_id" in episode.metadata:
                found.episodes[int(_INVOICE.findall(episode.goal)[0])] += 1
            else:
                whole = found.promoted.setdefault((scope, episode.source), [])
                whole.append(int(str(episode.metadata["invocations"])))
                text = episode.model_dump_json()
                found.reported.update({*map(int, _INVOICE.findall(text) + _TREE.findall(text))})
    taken = [run for run in runs if run.shed_for is None]
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
            if fact.speaker.startswith("tool:"):  # what the tools of a run found, not what was said
                continue
            yield int(_TREE.findall(fact.content)[0])
        offset, total = offset + _PAGE, page.total


async def _episodes(client: Client, scope: Scope) -> AsyncIterator[Episode]:
    offset, total = 0, 1
    while offset < total:
        page = await client.episodes.list(scope, limit=_PAGE, offset=offset)
        for episode in page.episodes:
            yield episode
        offset, total = offset + _PAGE, page.total


async def resolved(client: Client, runs: Sequence[Run], within: float) -> Findings:
    """What memory holds once it has everything, or when nothing more has come for a while."""
    everything = {run.number for run in runs if run.answer and run.stays}
    found, known, grew = Findings(), -1, time.monotonic()

    async def is_quiet() -> bool:
        nonlocal found, known, grew
        await asyncio.sleep(_PAUSE)
        try:
            found = await look(client, runs)
        except FourtierError:  # a service has not recovered yet
            return time.monotonic() - grew > within
        number = sum(map(len, (found.facts, found.records, found.episodes, found.promoted)))
        if number > known:
            known, grew = number, time.monotonic()
        complete = all(everything <= set(counted) for counted in found.stored.values())
        return (complete and not list(found.not_promoted(runs))) or time.monotonic() - grew > within

    await wait_until(is_quiet, within=10 * within)
    return found


async def out_of_step(client: Client, within: float) -> list[str]:
    """What is wrong where graph and vectors do not get the same number of facts in time."""
    counts: dict[str, int] = {}

    async def in_step() -> bool:
        nonlocal counts
        status = await client.caller.call(status_of("facts"), StatusRequest())
        counts = {each.store: each.number for each in status.store_counts}
        return counts["graph"] == counts["vectors"]

    try:
        await wait_until(in_step, within=within)
    except (AssertionError, FourtierError) as error:
        return [f"facts in the stores: {counts or error}"]
    return []
