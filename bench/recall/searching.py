"""Says a data set to a flow on the embedded engines, and asks its questions."""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from bench.recall.datasets import Dataset, Paragraph, Question
from bench.recall.measuring import Found

from fourtier.agents.react_mem.episode_item import episode_item
from fourtier.agents.react_mem.quotes import entry_item, fact_item
from fourtier.agents.react_mem.ranking import asks_about_the_past, ranked
from fourtier.client import Client, client_on
from fourtier.operations.importing import import_turns
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import MAX_ITEMS, Scope
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

SERVICES: Mapping[str, dict[str, dict[str, Any]]] = {
    "archive": {"embeddings": {}, "archive": {}},
    "research": {"embeddings": {}, "archive": {}, "researcher": {"method": "rule"}},
    "facts": {"embeddings": {}, "facts": {}, "extraction": {"method": "statements"}},
    "episodes": {"embeddings": {}, "episodes": {}, "extraction": {"method": "statements"}},
    "context": {
        "embeddings": {},
        "archive": {},
        "facts": {},
        "extraction": {"method": "statements"},
    },
}
#: Hits that are asked for: several facts may be of one turn.
_HITS = {"archive": 40, "research": 40, "facts": 100, "episodes": 20, "context": 40}
#: Of all evidence of a research together, so that only its number is limited.
_TOKENS = 1_000_000
#: Documents that are imported at once, and facts that are stored.
_AT_ONCE, _FACTS_AT_ONCE = 16, 128
#: The turn that a hit is of, and how it reads.
_Hit = tuple[str, str]
#: Seconds that memory may need for all of a data set.
_LONGEST = 7_200.0


async def measure(dataset: Dataset, tier: str, half: str) -> list[tuple[Question, Found]]:
    """Say everything, and ask the questions of a half."""
    with tempfile.TemporaryDirectory() as data:
        async with (
            running_flow(Path(data), SERVICES[tier], bus="embedded") as flow,
            client_on(flow.bus) as client,
        ):
            begun = time.monotonic()
            await _say(client, dataset, tier)
            await _import(client, dataset)
            await _hear(flow, client, dataset)
            await _state(flow, dataset)
            seconds = time.monotonic() - begun
            said = (dataset.turns, dataset.documents, dataset.runs, dataset.facts)
            number = sum(map(len, said))
            print(f"  {number} turns, documents, runs or facts in {seconds:.0f} s", flush=True)
            questions = dataset.half(half)
            asked = [(each, await _ask(client, each, tier)) for each in questions]
            for line in await dataset.more(client, questions) if dataset.more else ():
                print(f"  {line}")
            return asked


async def _say(client: Client, dataset: Dataset, tier: str) -> None:
    lines = (turn.model_dump_json().encode() for turn in dataset.turns)
    result = await import_turns(client, lines)
    if result.bad:
        sys.exit(f"not all turns can be imported: {result.reported[0]}")
    users = {turn.user for turn in dataset.turns}
    awaited = Counter((turn.user, turn.conversation_id) for turn in dataset.turns)

    async def archived() -> bool:
        """They are in the index, too: a search of each conversation finds all of it."""
        for (user, conversation), number in list(awaited.items()):
            found = await client.archive.search(
                Scope(user, "default"), "anything", top_k=MAX_ITEMS, source=conversation
            )
            if len(found.hits) < number:
                await asyncio.sleep(1)
                return False
            del awaited[user, conversation]
        return True

    before = -1

    async def learned() -> bool:
        """Extraction makes nothing of many turns: it is done when nothing more comes."""
        nonlocal before
        await asyncio.sleep(10)
        now = sum([(await client.facts.list(Scope(user, "default"))).total for user in users])
        before, same = now, now == before
        return same

    if "archive" in SERVICES[tier]:
        await wait_until(archived, within=_LONGEST)
    if "facts" in SERVICES[tier]:
        await wait_until(learned, within=_LONGEST)


async def _import(client: Client, dataset: Dataset) -> None:
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def store(each: Paragraph) -> None:
        async with at_once:
            await client.archive.import_document(
                Scope(each.user, "default"), each.name, [each.text]
            )

    await asyncio.gather(*map(store, dataset.documents))


async def _hear(flow: RunningFlow, client: Client, dataset: Dataset) -> None:
    """Tell of runs as an agent does, and wait until their episodes are stored."""
    for run in dataset.runs:
        await flow.caller.publish(INVOCATION_ENDED, run, message_id=f"{run.user}/{run.run_id}")
    expected = Counter(run.user for run in dataset.runs)

    async def stored() -> bool:
        await asyncio.sleep(1)
        scopes = {user: Scope(user, "default") for user in expected}
        return all(
            [
                (await client.episodes.list(scope, limit=1)).total == expected[user]
                for user, scope in scopes.items()
            ]
        )

    await wait_until(stored, within=_LONGEST)


async def _state(flow: RunningFlow, dataset: Dataset) -> None:
    at_once = asyncio.Semaphore(_FACTS_AT_ONCE)

    async def store(fact: StoreFactRequest) -> None:
        async with at_once:
            await flow.caller.call(STORE_FACT, fact)

    await asyncio.gather(*map(store, dataset.facts))


async def _ask(client: Client, question: Question, tier: str) -> Found:
    begun = time.monotonic()
    texts: dict[str, list[str]] = {}
    async for name, text in _ASKING[tier](client, question, _HITS[tier]):
        texts.setdefault(name, []).append(text)
    milliseconds = 1_000 * (time.monotonic() - begun)
    return Found(list(texts), ["\n".join(each) for each in texts.values()], milliseconds)


async def _search(client: Client, question: Question, number: int) -> AsyncIterator[_Hit]:
    scope = Scope(question.user, "default")
    found = await client.archive.search(scope, question.text, top_k=number)
    for hit in found.hits:
        yield _evidence_id(hit.entry), entry_item(hit.entry)


async def _research(client: Client, question: Question, number: int) -> AsyncIterator[_Hit]:
    steps = client.research(
        question.text, user=question.user, max_evidence=number, max_tokens=_TOKENS
    )
    async for step in steps:
        for found in step.evidence:
            yield _evidence_id(found.entry), entry_item(found.entry)


def _evidence_id(entry: ArchiveEntry) -> str:
    return entry.source if entry.source_kind == "document" else entry.invocation_id


async def _retrieve(client: Client, question: Question, number: int) -> AsyncIterator[_Hit]:
    scope = Scope(question.user, "default")
    for fact in await client.facts.search(scope, question.text, top_k=number):
        yield fact.invocation_id or fact.content, fact_item(fact)


async def _recall(client: Client, question: Question, number: int) -> AsyncIterator[_Hit]:
    scope = Scope(question.user, "default")
    for episode in await client.episodes.search(scope, question.text, top_k=number):
        yield episode.invocation_id, episode_item(episode)


async def _rank(client: Client, question: Question, number: int) -> AsyncIterator[_Hit]:
    """As an agent chooses for its prompt, see `react_mem.evidence`."""
    scope = Scope(question.user, "default")
    facts, found = await asyncio.gather(
        client.facts.search(scope, question.text, top_k=number, include_superseded=True),
        client.archive.search(scope, question.text, top_k=number),
    )
    past = asks_about_the_past(question.text)
    for group in ranked(facts, found.hits, (), past=past):
        turns = [_evidence_id(hit.entry) for hit in group.entries]
        texts = [entry_item(hit.entry) for hit in group.entries]
        said = "\n".join(texts)
        texts += [fact_item(fact) for fact in group.facts if fact.content not in said]
        yield (turns or [fact.invocation_id for fact in group.facts])[0], "\n".join(texts)


_ASKING: Mapping[str, Callable[[Client, Question, int], AsyncIterator[_Hit]]] = {
    "archive": _search,
    "research": _research,
    "facts": _retrieve,
    "context": _rank,
    "episodes": _recall,
}
