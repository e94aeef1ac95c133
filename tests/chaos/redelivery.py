"""Messages that are delivered again: rejected by one consumer, and left by one that dies."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio

from fourtier.runtime.service.registry import declared_handlers
from tests.chaos.faults import Fault
from tests.chaos.flow import NAMESPACE, SERVICES, TENANT, ChaosFlow
from tests.chaos.runs import Run

#: More than any service has consumers.
_NUMBERS = 40
#: Milliseconds after which what was rejected comes again.
_DELAY = 200
_SHARED, _KEYED = pulsar.ConsumerType.Shared, pulsar.ConsumerType.KeyShared


def redelivered(*, times: int, lasts: float) -> Fault:
    """One more consumer of each subscription: it takes messages, and acknowledges none of them.

    Of two messages it rejects one (a negative acknowledgement), and holds the other until it dies.
    """
    taken = 0
    stack = AsyncExitStack()

    async def strike(flow: ChaosFlow) -> None:
        consumers = await stack.enter_async_context(_joined(flow))
        for consumer in consumers:
            stack.push_async_callback(_cancelled, asyncio.create_task(take(consumer)))

    async def take(consumer: Any) -> None:
        nonlocal taken
        with suppress(pulsar_asyncio.PulsarException):
            while True:
                message = await consumer.receive()
                taken += 1
                if taken % 2:
                    await consumer.negative_acknowledge(message)

    async def heal(_flow: ChaosFlow) -> None:
        await stack.aclose()

    def expected(_flow: ChaosFlow, _runs: Sequence[Run]) -> Sequence[str]:
        return [] if taken else ["nothing was delivered again"]

    return Fault("redelivery", strike, heal, times, lasts, expected=expected)


@asynccontextmanager
async def _joined(flow: ChaosFlow) -> AsyncGenerator[list[Any]]:
    """A consumer of each subscription, with a connection of its own."""
    client = pulsar_asyncio.Client(
        flow.bus_url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null")
    )
    lite = "pulsar-lite" in flow.servers
    consumers: list[Any] = []
    try:
        # pulsar-lite tells the consumers of a subscription apart by the numbers that their
        # clients give them, from 0, and those of the services have the low ones.
        consumers += [
            await client.subscribe("numbers-only", f"number-{number}")
            for number in range(_NUMBERS if lite else 0)
        ]
        idle = len(consumers)
        for service, handler in declared_handlers(list(SERVICES)):
            if not handler.topic.persistent:
                continue
            keyed = handler.topic.key is not None and not lite
            consumers.append(
                await client.subscribe(
                    f"persistent://{TENANT}/{NAMESPACE}/{handler.topic.name}",
                    service,
                    consumer_type=_KEYED if keyed else _SHARED,
                    receiver_queue_size=4,
                    negative_ack_redelivery_delay_ms=_DELAY,
                )
            )
        yield consumers[idle:]
    finally:
        for consumer in consumers:
            await consumer.close()
        await client.close()


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
