"""A program that ends in the middle of its work: `ending.py URL TOKEN WAY`."""

import asyncio
import os
import signal
import sys

from fourtier.runtime.bus.contract import Address, BusError, Mode
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc.caller import open_caller


async def main() -> None:
    url, token, way = sys.argv[1:]
    topic, other = Address(f"{way}.one"), Address(f"{way}.other")
    async with (
        connect_pulsar(
            url,
            "fourtier",
            "ending",
            security=PulsarSecurity(token=token),
            log_file=os.devnull,
        ) as bus,
        open_caller(bus),
        bus.subscribe(topic, "workers", Mode.KEY_SHARED) as busy,
        bus.subscribe(topic, "others", Mode.KEY_SHARED),
        bus.subscribe(other, "workers", Mode.SHARED) as idle,
    ):
        under_way = [asyncio.create_task(idle.receive())]
        under_way += [
            asyncio.create_task(bus.publish(Address(f"{way}.{number % 20}"), b"x"))
            for number in range(1_000)
        ]
        await bus.publish(topic, b"x")
        await busy.receive()
        for task in under_way[:500]:
            task.cancel()
        if way == "raise":
            raise BusError("in the middle")
        if way == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        if way == "exit":
            sys.exit(3)


# A shell starts what it runs in the background with Ctrl-C ignored, and so the tests and this.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
