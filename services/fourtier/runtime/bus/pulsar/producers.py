"""The producers of one connection: made when first needed, shared by all who publish."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio

from fourtier.runtime.bus.contract import Address, BusError, UnconfirmedError

log = logging.getLogger(__name__)

#: The client fails a send at 1,000 pending messages; stay well below and wait instead.
_IN_FLIGHT = 500
#: Producers for inboxes come and go with callers; keep the latest and close the others.
_MOST_INBOXES = 256
_INBOX = "inbox."
#: After these a producer never works again; the next message gets a new one.
_GONE = {
    pulsar.Result.AlreadyClosed,
    pulsar.Result.ProducerFenced,
    pulsar.Result.ProducerNotInitialized,
}


class _Producer:
    """One producer, with a bound on what is under way."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self._room = asyncio.Semaphore(_IN_FLIGHT)
        self.busy = 0

    async def send(self, payload: bytes, properties: Mapping[str, str], key: str) -> None:
        self.busy += 1
        try:
            async with self._room:
                await self._producer.send(
                    payload, properties=dict(properties), partition_key=key or None
                )
        finally:
            self.busy -= 1

    async def close(self) -> None:
        await self._producer.close()


class Producers:
    """Makes, keeps and closes producers.

    Args:
        create: makes one for an address; raises PulsarException.
    """

    def __init__(self, create: Callable[[Address], Awaitable[Any]]) -> None:
        self._create = create
        self._made: OrderedDict[Address, asyncio.Task[_Producer]] = OrderedDict()

    async def send(
        self, address: Address, payload: bytes, properties: Mapping[str, str], key: str
    ) -> None:
        """Send with the address's producer and wait for the broker's receipt.

        Raises:
            BusError: the broker did not confirm.
        """
        producer = await self._get(address)
        try:
            await producer.send(payload, properties, key)
        except pulsar_asyncio.PulsarException as error:
            if error.error() in _GONE:
                await self.forget(address)
            if error.error() == pulsar.Result.Timeout:
                raise UnconfirmedError(f"{address.name}: no receipt: {error}") from error
            raise BusError(f"{address.name}: not sent: {error}") from error

    async def _get(self, address: Address) -> _Producer:
        task = self._made.get(address)
        if task is None:
            # A task, so that all who wait for it get the same producer, and that none is lost when
            # the one who asked first is cancelled.
            task = asyncio.create_task(self._make(address), name=f"producer {address.name}")
            self._made[address] = task
            await self._close_an_inbox()
        self._made.move_to_end(address)
        return await asyncio.shield(task)

    async def _make(self, address: Address) -> _Producer:
        try:
            return _Producer(await self._create(address))
        except pulsar_asyncio.PulsarException as error:
            self._made.pop(address, None)
            raise BusError(f"{address.name}: cannot publish: {error}") from error

    async def _close_an_inbox(self) -> None:
        """Close the inbox producer that was idle for longest, if there are too many."""
        inboxes = [address for address in self._made if address.name.startswith(_INBOX)]
        if len(inboxes) > _MOST_INBOXES:
            for address in inboxes:
                task = self._made[address]
                if task.done() and not task.result().busy:
                    await self.forget(address)
                    return

    async def forget(self, address: Address) -> None:
        """Close the producer for an address, if there is one."""
        task = self._made.pop(address, None)
        if task is None:
            return
        try:
            await (await task).close()
        except (BusError, pulsar_asyncio.PulsarException) as error:
            log.debug("The producer for %s was not closed in order: %s", address.name, error)

    async def close(self) -> None:
        """Close all, side by side."""
        await asyncio.gather(*(self.forget(address) for address in list(self._made)))
