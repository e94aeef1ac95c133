"""How much disk and memory the embedded broker takes for messages that are all handled.

.venv/bin/python bench/bus_disk.py --messages 100000
"""

import argparse
import asyncio
import logging
import tempfile
import time
from pathlib import Path

from fourtier.runtime.bus.contract import Address, Bus, Mode
from fourtier.runtime.bus.opening import BusConfig, embedded_directory, open_bus

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


async def main() -> None:
    """Publish and handle, and say what was used."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=1_000)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with tempfile.TemporaryDirectory() as place:
        directory, peak = embedded_directory(Path(place)), list[float]()
        async with open_bus(BusConfig("embedded", "fourtier", "bench", Path(place), 0)) as (bus, _):
            watching = asyncio.create_task(watch(directory, peak))
            began = time.perf_counter()
            await asyncio.gather(
                publish(bus, options.messages, options.bytes), handle(bus, options.messages)
            )
            took = time.perf_counter() - began
            running = megabytes(directory)
            watching.cancel()
        print(f"{options.messages:,} messages of {options.bytes:,} bytes in {took:.1f} s")
        print(f"bus/ at most {max(peak):.1f} MB, when all was handled {running:.1f} MB, ", end="")
        print(f"after the end {megabytes(directory):.1f} MB")
        print((directory / "broker.log").read_text(), end="")


asyncio.run(main())
