"""A real broker whose files tests compact: what is published, acknowledged and read back."""

import asyncio
import socket
import sys
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from pulsar_lite.binary_finder import find_pulsar_lite_binary

from fourtier.runtime.bus.contract import Address, Bus, Delivery, Mode
from fourtier.runtime.bus.embedded.storage import compaction
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from tests.support.ports import free_port
from tests.support.waiting import wait_until

TOPIC = Address("numbers")
END = "end"


@asynccontextmanager
async def open_broker(directory: Path) -> AsyncGenerator[Bus]:
    """A broker without its guard, which would compact, and a bus on it. Ends by `kill -9`."""
    port = free_port()
    configuration = directory / "broker.toml"
    configuration.write_text("default_partitions = 0\n\n[metrics]\nenabled = false\n")
    process = await asyncio.create_subprocess_exec(
        find_pulsar_lite_binary(),
        *("--config", configuration, "--addr", f"127.0.0.1:{port}", "--log-level", "error"),
        *("--db-path", directory / "messages"),
    )
    try:
        await wait_until(lambda: _listens(port))
        async with connect_pulsar(
            f"pulsar://127.0.0.1:{port}",
            "fourtier",
            "storage",
            security=PulsarSecurity(),
            log_file=str(directory / "client.log"),
        ) as bus:
            yield bus
    finally:
        process.kill()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


async def publish(bus: Bus, numbers: range, *, size: int = 100, topic: Address = TOPIC) -> None:
    """Messages with a key, properties and a payload that begins with the number."""
    for number in numbers:
        await bus.publish(
            topic,
            f"{number}|".encode().ljust(size, b"x"),
            key=f"key {number % 3}",
            properties={"number": str(number)},
        )


def number_of(delivery: Delivery) -> int:
    """The number of a message, which must be whole."""
    number = int(delivery.payload.split(b"|")[0])
    assert delivery.properties == {"number": str(number)}
    assert delivery.key == f"key {number % 3}"
    return number


async def acknowledge(
    bus: Bus, group: str, count: int, *, but: frozenset[int] = frozenset(), topic: Address = TOPIC
) -> None:
    """Take so many messages and acknowledge them, but for some."""
    async with bus.subscribe(topic, group, Mode.SHARED) as subscription:
        for _ in range(count):
            delivery = await subscription.receive()
            if number_of(delivery) not in but:
                await delivery.acknowledge()


async def left_for(bus: Bus, group: str, *, topic: Address = TOPIC) -> list[Delivery]:
    """All that a group still gets, up to a message that is published now. Acknowledges it."""
    end = {END: uuid.uuid4().hex}
    await bus.publish(topic, b"", properties=end)
    left: list[Delivery] = []
    async with bus.subscribe(topic, group, Mode.SHARED) as subscription:
        while True:
            delivery = await subscription.receive()
            await delivery.acknowledge()
            if delivery.properties == end:
                return left
            if END not in delivery.properties:
                left.append(delivery)


async def start_compaction(directory: Path) -> asyncio.subprocess.Process:
    """As the guard starts it."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", compaction.__name__, str(directory)
    )


def content(directory: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())
