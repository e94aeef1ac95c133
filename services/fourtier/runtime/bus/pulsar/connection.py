"""Apache Pulsar, the same class for a cluster and for the embedded `pulsar-lite`."""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio
from pulsar import ConsumerType, InitialPosition

from fourtier.runtime.bus.contract import Address, BusError, Mode
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
#: What a broker does not keep it drops when a member has no room.
_ROOM_FOR_WHAT_IS_NOT_KEPT = 5_000
_LITE = "pulsar-lite"
#: A property of each consumer: the broker tells it, so that replicas of two versions can be seen.
VERSION_PROPERTY = "fourtier-version"
_WHO_WE_ARE = {VERSION_PROPERTY: version("fourtier")}


@dataclass(frozen=True, slots=True)
class PulsarSecurity:
    """How to get into a protected cluster; nothing of it is ever logged."""

    token: str | None = field(default=None, repr=False)
    trust_certificates: str | None = None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until a broker that does not answer is given up.

    Attributes:
        send: for a message that was sent; the client tries again meanwhile.
        operation: for joining a group or opening a topic.
    """

    send: float = 10.0
    operation: int = 30


class _Turn:
    """Lets the members of a group have a topic one after another."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.members = 0


class PulsarBus:
    """A connection to a broker, seen from one tenant and namespace.

    Batching stays off: it makes a call wait for its delay (seen: 21 ms instead of 0.6 ms).

    `pulsar-lite` 0.2 stalls a Key_Shared subscription when a member leaves, and moves keys to a new
    member while the old one still works on them. There, one member of this connection at a time has
    a plain shared subscription, which keeps the order, and the others wait for their turn.
    Two processes must not serve the same group of one `pulsar-lite`.

    Pulsar divides the keys of a group by the names of its members. Ours have one name on all
    topics, so that a key belongs to one process whatever is done with it: a fact of a user is
    stored and forgotten in one place, where the two wait for each other. While members come and go
    that does not hold: each topic is joined and left by itself.
    """

    def __init__(
        self, client: Any, tenant: str, namespace: str, *, lite: bool, timeouts: Timeouts
    ) -> None:
        self._client = client
        self._place = f"{tenant}/{namespace}"
        self._lite = lite
        self._patience = timeouts
        self._name = uuid.uuid4().hex
        self._producers = Producers(self._create_producer)
        self._turns: defaultdict[tuple[Address, str], _Turn] = defaultdict(_Turn)

    def _url(self, address: Address) -> str:
        domain = "persistent" if address.persistent else "non-persistent"
        return f"{domain}://{self._place}/{address.name}"

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
            BusError: the broker did not confirm.
        """
        await self._producers.send(address, payload, properties or {}, key)

    async def _create_producer(self, address: Address) -> Any:
        return await self._client.create_producer(
            self._url(address),
            batching_enabled=False,
            send_timeout_millis=int(self._patience.send * 1000),
        )

    async def forget_producer(self, address: Address) -> None:
        """Close the producer for an address, if there is one."""
        await self._producers.forget(address)

    @asynccontextmanager
    async def subscribe(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[Consumer]:
        """Join a group of the topic.

        Raises:
            BusError: the broker refused, for example a second member of an exclusive group.
        """
        if self._lite and mode is Mode.KEY_SHARED and address.persistent:
            joining = self._subscribe_in_turn(address, group)
        else:
            joining = self._subscribe(address, group, mode)
        async with joining as member:
            yield member

    @asynccontextmanager
    async def _subscribe(
        self, address: Address, group: str, mode: Mode
    ) -> AsyncGenerator[Consumer]:
        member = Consumer(persistent=address.persistent)
        async with (
            self._consumer(address, group, mode) as consumer,
            _running(member.pump(consumer), f"receive {address.name}"),
        ):
            yield member

    @asynccontextmanager
    async def _subscribe_in_turn(self, address: Address, group: str) -> AsyncGenerator[Consumer]:
        turn = self._turns[address, group]
        turn.members += 1
        try:
            if turn.members == 1:
                async with turn.lock, self._subscribe(address, group, Mode.SHARED) as member:
                    yield member
            else:
                member = Consumer(persistent=True)
                waiting = self._wait_for_turn(turn, member, address, group)
                async with _running(waiting, f"wait for {address.name}"):
                    yield member
        finally:
            turn.members -= 1

    async def _wait_for_turn(
        self, turn: _Turn, member: Consumer, address: Address, group: str
    ) -> None:
        async with turn.lock:
            try:
                async with self._consumer(address, group, Mode.SHARED) as consumer:
                    await member.pump(consumer)
            except BusError as error:
                await member.fail(error)

    @asynccontextmanager
    async def _consumer(self, address: Address, group: str, mode: Mode) -> AsyncGenerator[Any]:
        try:
            consumer = await self._client.subscribe(
                self._url(address),
                group,
                consumer_type=_TYPES[mode],
                consumer_name=self._name if mode is Mode.KEY_SHARED else None,
                properties=_WHO_WE_ARE,
                initial_position=(
                    InitialPosition.Earliest if address.persistent else InitialPosition.Latest
                ),
                receiver_queue_size=(
                    PREFETCH if address.persistent else _ROOM_FOR_WHAT_IS_NOT_KEPT
                ),
            )
        except pulsar_asyncio.PulsarException as error:
            raise BusError(f"{address.name}: cannot subscribe as {group}: {error}") from error
        try:
            yield consumer
        finally:
            await closed(consumer, f"the subscription to {address.name}")

    async def create_group(self, address: Address, group: str) -> None:
        """Create the subscription by joining and leaving it."""
        try:
            async with self._consumer(address, group, Mode.SHARED):
                pass
        except BusError as error:
            cause = error.__cause__
            if not (
                isinstance(cause, pulsar_asyncio.PulsarException)
                and cause.error() == pulsar.Result.ConsumerBusy
            ):
                raise
            # Members of another kind are there, and so is the group.

    async def close(self) -> None:
        """Close the producers, then the client: the other order can abort the process."""
        try:
            async with asyncio.timeout(CLOSES_WITHIN):
                await self._producers.close()
        except TimeoutError:
            log.warning("The bus did not let go of its producers in time.")
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
) -> AsyncGenerator[PulsarBus]:
    """Connect to a broker at `pulsar://` or `pulsar+ssl://`.

    The C++ client's own log goes to `log_file`, errors only.

    Raises:
        BusError: the URL is not one that Pulsar understands, or no broker answers there.
    """
    called = await handshake(url, security.trust_certificates, security.token)
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
    lite = called.lower().startswith(_LITE)
    bus = PulsarBus(client, tenant, namespace, lite=lite, timeouts=timeouts)
    try:
        yield bus
    finally:
        await bus.close()
