"""Apache Pulsar, the same class for a cluster and for the embedded `pulsar-lite`."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio
from pulsar import ConsumerType, InitialPosition

from fourtier.runtime.bus.contract import Address, BusError, Mode
from fourtier.runtime.bus.local import LocalCalls
from fourtier.runtime.bus.pulsar.closing import CLOSES_WITHIN, closed, let_go
from fourtier.runtime.bus.pulsar.consumer import PREFETCH, Consumer
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.bus.pulsar.producers import Producers

log = logging.getLogger(__name__)

_TYPES = {
    Mode.SHARED: ConsumerType.Shared,
    Mode.KEY_SHARED: ConsumerType.KeyShared,
    Mode.EXCLUSIVE: ConsumerType.Exclusive,
}
#: A broker drops messages that are not persistent when the consumer has no room for them.
_PREFETCH_NOT_PERSISTENT = 5_000
_LITE = "pulsar-lite"
#: A property of each consumer: the broker tells it, so that replicas of two versions can be seen.
VERSION_PROPERTY = "fourtier-version"
_PROPERTIES = {VERSION_PROPERTY: version("fourtier")}


@dataclass(frozen=True, slots=True)
class PulsarSecurity:
    """How to get into a protected cluster; nothing of it is ever logged."""

    token: str | None = field(default=None, repr=False)
    trust_certificates: str | None = None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until a broker that does not answer counts as failed.

    Attributes:
        send: for a message that was sent; the client tries again meanwhile.
        operation: for joining a group or opening a topic.
    """

    send: float = 10.0
    operation: int = 30


class PulsarBus:
    """A connection to a broker, seen from one tenant and namespace.

    Batching stays off: it makes a call wait for its delay (seen: 21 ms instead of 0.6 ms).

    `pulsar-lite` 0.2 stalls a Key_Shared subscription when a consumer leaves, and moves keys to a
    new consumer while the old one still works on them. There, the only consumer of such a group has
    a plain shared subscription, in which the order of the messages is the topic's. A flow opens one
    consumer for each group; a second one on this connection would break the order of the keys
    without a word, and is rejected. Two processes must not serve the same group of one
    `pulsar-lite`.

    Pulsar assigns the keys of a group by the names of its consumers. Ours have one name on all
    topics, so that all messages with a key go to one process: there two commands with one key wait
    for each other, also on two topics. While consumers come and go that does not hold: each topic
    is joined and left by itself.
    """

    def __init__(
        self,
        client: Any,
        tenant: str,
        namespace: str,
        *,
        lite: bool,
        timeouts: Timeouts,
        local: LocalCalls | None = None,
    ) -> None:
        self.local = local
        self._client = client
        self._namespace = f"{tenant}/{namespace}"
        self._lite = lite
        self._timeouts = timeouts
        self._name = uuid.uuid4().hex
        self._producers = Producers(self._create_producer)
        self._ordered: set[tuple[Address, str]] = set()

    def _url(self, address: Address) -> str:
        domain = "persistent" if address.persistent else "non-persistent"
        return f"{domain}://{self._namespace}/{address.name}"

    async def publish(
        self,
        address: Address,
        payload: bytes,
        *,
        key: str = "",
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Send, and return once the broker has it.

        Raises:
            RejectedByBusError: the message is too large, the topic's name is not valid, or we are
                not authorised.
            BusError: the broker did not confirm.
        """
        async with self._producers.borrowed(address) as producer:
            await producer.send(
                payload, properties=dict(properties or {}), partition_key=key or None
            )

    async def _create_producer(self, address: Address) -> Any:
        return await self._client.create_producer(
            self._url(address),
            batching_enabled=False,
            send_timeout_millis=int(self._timeouts.send * 1000),
        )

    @asynccontextmanager
    async def subscribe(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[Consumer]:
        """Join a group of the topic.

        Raises:
            BusError: the broker rejects it, for example a second consumer of an exclusive group.
        """
        async with AsyncExitStack() as stack:
            if self._lite and mode is Mode.KEY_SHARED and address.persistent:
                stack.enter_context(self._only_consumer(address, group))
                mode = Mode.SHARED
            consumer = Consumer(persistent=address.persistent)
            joined = await stack.enter_async_context(self._joined(address, group, mode))
            pumping = _running(consumer.pump(joined), f"receive {address.name}")
            await stack.enter_async_context(pumping)
            yield consumer

    @contextmanager
    def _only_consumer(self, address: Address, group: str) -> Generator[None]:
        if (address, group) in self._ordered:
            raise BusError(
                f"{address.name}: {group} has a consumer in this process, and {_LITE} keeps the "
                f"order of keys for one: serve it once, or use Pulsar"
            )
        self._ordered.add((address, group))
        try:
            yield
        finally:
            self._ordered.discard((address, group))

    @asynccontextmanager
    async def _joined(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[Any]:
        try:
            joined = await self._client.subscribe(
                self._url(address),
                group,
                consumer_type=_TYPES[mode],
                consumer_name=self._name if mode is Mode.KEY_SHARED else None,
                properties=_PROPERTIES,
                initial_position=(
                    InitialPosition.Earliest if address.persistent else InitialPosition.Latest
                ),
                receiver_queue_size=(PREFETCH if address.persistent else _PREFETCH_NOT_PERSISTENT),
            )
        except pulsar_asyncio.PulsarException as error:
            raise BusError(f"{address.name}: cannot subscribe as {group}: {error}") from error
        try:
            yield joined
        finally:
            await closed(joined, f"the subscription to {address.name}")

    async def create_group(self, address: Address, group: str) -> None:
        """Create the subscription by joining and leaving it."""
        try:
            async with self._joined(address, group, Mode.SHARED):
                pass
        except BusError as error:
            cause = error.__cause__
            if not (
                isinstance(cause, pulsar_asyncio.PulsarException)
                and cause.error() == pulsar.Result.ConsumerBusy
            ):
                raise
            # It has consumers of another kind, and so the group is there.

    async def close(self) -> None:
        """Close the producers, then the client: the other order can abort the process."""
        try:
            async with asyncio.timeout(CLOSES_WITHIN):
                await self._producers.close()
        except TimeoutError:
            log.warning("The bus did not let go of its producers in time.")
        finally:
            await let_go(self._client)


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None], name: str) -> AsyncGenerator[None]:
    """Run work beside what happens in the context, and end it with it."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def connect_pulsar(
    url: str,
    tenant: str,
    namespace: str,
    *,
    security: PulsarSecurity,
    log_file: str,
    timeouts: Timeouts = Timeouts(),
    local: LocalCalls | None = None,
) -> AsyncGenerator[PulsarBus]:
    """Connect to a broker at `pulsar://` or `pulsar+ssl://`.

    The C++ client's own log goes to `log_file`, errors only. With `local` calls within this process
    do without the broker where they can.

    Raises:
        BusError: the URL is not one that Pulsar understands, or no broker answers there.
    """
    server = await handshake(url, security.trust_certificates, security.token)
    try:
        client = pulsar_asyncio.Client(
            url,
            authentication=pulsar.AuthenticationToken(security.token) if security.token else None,
            tls_trust_certs_file_path=security.trust_certificates,
            tls_validate_hostname=True,
            logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, log_file),
            connection_timeout_ms=5_000,
            operation_timeout_seconds=timeouts.operation,
        )
    except (ValueError, pulsar_asyncio.PulsarException) as error:
        raise BusError(f"{url} is not a Pulsar URL: {error}") from error
    lite = server.lower().startswith(_LITE)
    bus = PulsarBus(client, tenant, namespace, lite=lite, timeouts=timeouts, local=local)
    try:
        yield bus
    finally:
        await bus.close()
