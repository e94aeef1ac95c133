"""How much disk the embedded broker takes for messages that are all handled.

    .venv/bin/python -m bench.bus_disk [--messages 100000]           # bare messages
    .venv/bin/python -m bench.bus_disk --flow [--messages 100000]    # those of a flow at work

With --flow it is `fourtier up` with all services. A hundredth of the messages are questions to the
agent, the others commands to store facts, as `fourtier import` sends them; what services send each
other and what they answer is not counted.
"""

import argparse
import asyncio
import logging
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.deployments import embedded

from fourtier.client import connect
from fourtier.runtime.bus.contract import Address, Bus, Mode
from fourtier.runtime.bus.opening import BusConfig, embedded_directory, open_bus
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from tests.support.model import Says, scripted_model

TOPIC = Address("bench.disk")
IN_FLIGHT = 20


async def publish(bus: Bus, messages: int, size: int) -> None:
    """Publish, some at a time."""
    room = asyncio.Semaphore(IN_FLIGHT)

    async def one(number: int) -> None:
        async with room:
            await bus.publish(TOPIC, b"x" * size, key=f"key {number % 50}")

    for start in range(0, messages, 1_000):
        await asyncio.gather(*(one(n) for n in range(start, min(start + 1_000, messages))))


async def handle(bus: Bus, messages: int) -> None:
    """Receive and acknowledge; what comes twice counts once."""
    seen: set[str] = set()
    async with bus.subscribe(TOPIC, "workers", Mode.KEY_SHARED) as subscription:
        while len(seen) < messages:
            delivery = await subscription.receive()
            await delivery.acknowledge()
            seen.add(delivery.id)


def megabytes(directory: Path) -> float:
    """What the files of the broker take."""
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # the broker has just removed it
            continue
    return total / 1e6


async def watch(directory: Path, peak: list[float]) -> None:
    """Note the largest size, four times a second."""
    while True:
        peak.append(await asyncio.to_thread(megabytes, directory))
        await asyncio.sleep(0.25)


async def through_broker(place: Path, messages: int, size: int, peak: list[float]) -> None:
    """Bare messages to one subscription."""
    async with (
        open_bus(BusConfig("embedded", "fourtier", "bench", place, 0)) as (bus, _),
        watched(embedded_directory(place), peak),
    ):
        await asyncio.gather(publish(bus, messages, size), handle(bus, messages))


async def through_flow(place: Path, messages: int, peak: list[float]) -> None:
    """Questions and facts of many users, to a flow that is a process of its own."""
    room = asyncio.Semaphore(IN_FLIGHT)
    async with (
        scripted_model(script=lambda _request: Says("Good to know.")) as model,
        embedded(place, model.url) as flow,
        connect(
            flow.bus_url, tenant=flow.tenant, namespace=flow.namespace, token=flow.token
        ) as client,
        watched(embedded_directory(data_of_flow(place)), peak),
    ):

        async def send(number: int) -> None:
            user, day = f"user {number % 200}", number // 200 % 50
            async with room:
                if number % 100 == 0:
                    await client.answer(f"I ran {day} km.", user=user, conversation_id=f"{number}")
                else:
                    fact = StoreFactRequest(user=user, content=f"Ran {day} km on day {day}.")
                    await client.caller.call(STORE_FACT, fact)

        for start in range(0, messages, 1_000):
            await asyncio.gather(*map(send, range(start, min(start + 1_000, messages))))
            model.requests.clear()


def data_of_flow(place: Path) -> Path:
    """Its data directory is the one with the broker's."""
    (bus,) = place.glob("*/bus")
    return bus.parent


@asynccontextmanager
async def watched(directory: Path, peak: list[float]) -> AsyncGenerator[None]:
    """Note the size of a directory until the context ends; the last is that before the end."""
    watching = asyncio.create_task(watch(directory, peak))
    try:
        yield
    finally:
        watching.cancel()
        peak.append(await asyncio.to_thread(megabytes, directory))


async def main() -> None:
    """Publish and handle, and say what was used."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.bus_disk",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=1_000, help="of a bare message")
    parser.add_argument("--flow", action="store_true", help="through a flow at work")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with tempfile.TemporaryDirectory() as directory:
        place, peak = Path(directory), list[float]()
        began = time.perf_counter()
        if options.flow:
            await through_flow(place, options.messages, peak)
        else:
            await through_broker(place, options.messages, options.bytes, peak)
        what = "a flow at work" if options.flow else f"{options.bytes:,} bytes"
        took = time.perf_counter() - began
        print(f"{options.messages:,} messages of {what} in {took:.1f} s")
        data = data_of_flow(place) if options.flow else place
        print(f"bus/ at most {max(peak):.1f} MB, when all was handled {peak[-1]:.1f} MB, ", end="")
        print(f"after the end {megabytes(embedded_directory(data)):.1f} MB")


asyncio.run(main())
