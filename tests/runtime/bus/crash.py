"""A program that tests end by `kill -9`: `crash.py DIRECTORY PORT`.

Publishes the numbers 0 to 99, works on the first half, acknowledges of it what is even and tells
its parent; then it waits to be killed, with the broker up and a consumer in the middle of its work.
"""

import asyncio
import sys
from pathlib import Path

from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.bus.opening import BusConfig, open_bus


async def main() -> None:
    directory, port = Path(sys.argv[1]), int(sys.argv[2])
    config = BusConfig("embedded", "fourtier", "crash", directory, port)
    topic = Address("numbers")
    async with open_bus(config) as (bus, _):
        await bus.create_group(topic, "workers")
        for number in range(100):
            await bus.publish(topic, str(number).encode(), key=str(number % 3))
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as subscription:
            for number in range(50):
                delivery = await subscription.receive()
                if number % 2 == 0:
                    await delivery.acknowledge()
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as subscription:
            await subscription.receive()
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


asyncio.run(main())
