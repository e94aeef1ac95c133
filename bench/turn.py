"""One turn's memory work on the embedded flow: the median of each part, the model at zero latency.

    make install && .venv/bin/python bench/turn.py [--facts 10000] [--turns 100]

Everything is real but the model: the broker is a process of its own, the services run in this one.
A scripted server answers completions at once; what it costs is `model` and is not memory.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from fourtier.client import client_on
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import ModelRequest, Says, scripted_model

SERVICES: dict[str, dict[str, object]] = {
    "embeddings": {},
    "completion": {},
    "facts": {},
    "episodes": {},
    "conversations": {},
    "working-memory": {},
    "extraction": {"method": "statements"},
    "agent": {},
}
CITIES = ("Oslo", "Bergen", "Lima", "Kyoto", "Porto", "Quito", "Turin", "Riga", "Cork", "Graz")
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


async def turns(flow: RunningFlow, number: int) -> dict[str, list[float]]:
    """Ask questions one after another; milliseconds by part."""
    parts: dict[str, list[float]] = {}
    async with client_on(flow.bus) as client:
        for turn in range(number):
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
    arguments = parser.parse_args()

    def answer(_request: ModelRequest) -> Says:
        return Says("At nine.")

    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fourtier-bench-")))
        model = await stack.enter_async_context(scripted_model(script=answer))
        flow = await stack.enter_async_context(
            running_flow(data, SERVICES, bus="embedded", settings=model.settings)
        )
        await fill(flow, arguments.facts)
        await turns(flow, 10)
        parts = await turns(flow, arguments.turns)
    memory = [total - model for total, model in zip(parts["total"], parts["model"], strict=True)]
    print(f"{'part':<16}{'median ms':>10}{'p90 ms':>10}")
    for part, spent in [*parts.items(), ("memory work", memory)]:
        p90 = statistics.quantiles(spent, n=10)[-1]
        print(f"{part:<16}{statistics.median(spent):>10.2f}{p90:>10.2f}")


if __name__ == "__main__":
    asyncio.run(main())
