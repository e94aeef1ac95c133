"""One turn's memory work: the median of each part, the model at zero latency.

    make install
    .venv/bin/python -m bench.turn [--facts 10000] [--turns 100]      # on the embedded engines
    .venv/bin/python -m tests.cluster .venv/bin/python -m bench.turn  # on Pulsar and Neo4j
    .venv/bin/python -m bench.turn --compare   # calls within the process against all by the broker
    [--without archive memoriser researcher]

Everything is real but the model: the broker is a process of its own, the services run in this one.
A scripted server answers completions at once; what it costs is `model` and is not memory. Between
two turns there is a pause, as people make one too: what is learned from a turn is stored after its
answer, and without a pause it is the next turn that waits for it. What is compared takes turns.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop
from bench.deployments import road_without

from fourtier.client import client_on
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import ModelRequest, Says, scripted_model

#: Conversations that are still open are not promoted.
_NEVER_BUSY = ("promotion",)
CITIES = ("Oslo", "Bergen", "Lima", "Kyoto", "Porto", "Quito", "Turin", "Riga", "Cork", "Graz")
#: In so many parts the turns are measured, so that what is compared has the same noise.
_ROUNDS = 5
THINGS = ("museum", "bakery", "harbour", "library", "cinema", "market", "garden", "bridge")


def fact(number: int) -> str:
    """A sentence that no other number gives."""
    city, thing = CITIES[number % 10], THINGS[number // 10 % 8]
    return f"In {city} the {thing} number {number} opens at {number % 24} and has {number} visitors"


async def fill(flow: RunningFlow, facts: int) -> None:
    """Store facts of one user, and wait until all are there."""
    gate = asyncio.Semaphore(200)

    async def store(number: int) -> None:
        async with gate:
            await flow.caller.call(STORE_FACT, StoreFactRequest(user="ann", content=fact(number)))

    await asyncio.gather(*map(store, range(facts)))
    listed = await flow.caller.call(LIST_FACTS, ListFactsRequest(user="ann", limit=1))
    print(f"{listed.total} facts of one user")


async def turns(flow: RunningFlow, number: int, pause: float) -> dict[str, list[float]]:
    """Ask questions one after another, with so many seconds between; milliseconds by part."""
    parts: dict[str, list[float]] = {}
    async with client_on(flow.bus) as client:
        for turn in range(number):
            await asyncio.sleep(pause)
            began = time.perf_counter()
            reply = await client.answer(
                f"When does the {THINGS[turn % 8]} in {CITIES[turn % 10]} open, number {turn}?",
                user="ann",
                conversation_id="bench",
            )
            whole = (time.perf_counter() - began) * 1000
            for part, spent in (reply.metadata.timings_ms | {"client": whole}).items():
                parts.setdefault(part, []).append(spent)
    return parts


async def main() -> None:
    """Fill, warm up, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two turns")
    parser.add_argument("--compare", action="store_true", help="with and without local calls")
    parser.add_argument(
        "--without", nargs="+", default=[], choices=list(ROAD), help="services that are left out"
    )
    arguments = parser.parse_args()

    def answer(_request: ModelRequest) -> Says:
        return Says("At nine.")

    async with AsyncExitStack() as stack:
        services = road_without([*_NEVER_BUSY, *arguments.without])
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fourtier-bench-")))
        model = await stack.enter_async_context(scripted_model(script=answer))
        flow = await stack.enter_async_context(
            running_flow(data, services, bus="embedded", settings=model.settings)
        )
        await fill(flow, arguments.facts)
        await turns(flow, 10, arguments.pause)
        ways = {"local calls": flow.bus.local} | ({"broker": None} if arguments.compare else {})
        measured: dict[str, list[dict[str, list[float]]]] = {way: [] for way in ways}
        for _ in range(_ROUNDS):
            for way, local in ways.items():
                flow.bus.local = local
                some = max(2, arguments.turns // _ROUNDS)
                measured[way].append(await turns(flow, some, arguments.pause))
        flow.bus.local = ways["local calls"]  # what was begun with it ends with it
    for way, rounds in measured.items():
        _print(way, _joined(rounds))


def _joined(rounds: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    """By part, what all rounds took; without the model that is memory's work."""
    parts = {part: [each for some in rounds for each in some[part]] for part in rounds[0]}
    pairs = zip(parts["total"], parts["model"], strict=True)
    return parts | {"memory work": [total - model for total, model in pairs]}


def _print(way: str, parts: dict[str, list[float]]) -> None:
    print(f"{way:<16}{'median ms':>10}{'p90 ms':>10}")
    for part, spent in parts.items():
        p90 = statistics.quantiles(spent, n=10)[-1]
        print(f"{part:<16}{statistics.median(spent):>10.2f}{p90:>10.2f}")


if __name__ == "__main__":
    uvloop.run(main())
