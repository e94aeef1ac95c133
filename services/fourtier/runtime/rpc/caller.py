"""The caller's side: publish messages, ask services and await their answers."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar

from fourtier.runtime import telemetry
from fourtier.runtime.bus.contract import (
    Address,
    Bus,
    BusError,
    Delivery,
    Mode,
    Subscription,
    UnconfirmedError,
)
from fourtier.runtime.bus.local import LocalCalls
from fourtier.runtime.errors import DeadlineExceededError, LostAnswerError
from fourtier.runtime.rpc import envelope
from fourtier.runtime.rpc.heartbeat import HeartbeatTimeout
from fourtier.runtime.rpc.instrumentation import call_span
from fourtier.runtime.rpc.pending_call import PendingCall, read_answer
from fourtier.runtime.rpc.routes import cancel_address
from fourtier.schema.message import Message
from fourtier.schema.topics import Call, Topic

log = logging.getLogger(__name__)

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: A query is sent once more when this share of its deadline has passed without an answer.
_RETRY_AFTER = 0.5
#: A cancellation that cannot be sent is not worth waiting for, in seconds.
_CANCEL_TIMEOUT = 2.0


class Caller:
    """Sends on a bus and matches answers, which come to an inbox of its own, by their call.

    Open it with `open_caller`. One caller serves any number of calls at a time.
    """

    def __init__(self, bus: Bus, heartbeat_timeout: HeartbeatTimeout = HeartbeatTimeout()) -> None:
        self._bus = bus
        self._heartbeat_timeout = heartbeat_timeout
        self._inbox = Address(f"inbox.{envelope.new_id()}", persistent=False)
        self._pending: dict[str, PendingCall] = {}
        self._disconnected: BusError | None = None
        self._became_disconnected = asyncio.Event()
        self._cancelling: set[asyncio.Task[None]] = set()
        self._closed = False

    async def publish(self, topic: Topic[M], message: M, *, message_id: str = "") -> None:
        """Send one way; returns once the broker has it.

        `message_id` names the message; give one that is made from the cause where a repetition
        must be recognised.

        Raises:
            BusError: the broker did not confirm.
        """
        properties = envelope.properties_for(message)
        if message_id:
            properties[envelope.ID] = message_id
        await self._send(topic, message, properties)

    async def call(self, call: Call[Q, A], question: Q) -> A:
        """Ask and await the one answer.

        Raises:
            CallFailedError: the service answered with an error.
            DeadlineExceededError: no answer before the call's deadline.
            BusError: the broker did not take the question, or answers cannot come in any more.
        """
        with self._asking(call, question, "") as asked:
            return read_answer(call, await self._first(call, question, asked))

    async def stream(
        self, call: Call[Q, A], question: Q, *, message_id: str = ""
    ) -> AsyncGenerator[A]:
        """Ask and await the answer's messages; the deadline holds for each of them.

        Leaving before the last one cancels the work behind the answer.

        Raises: as `call`.
        """
        with self._asking(call, question, message_id) as asked:
            asked.properties[envelope.HEARTBEAT] = "true"
            try:
                with call_span(call.topic.name, asked.properties[envelope.ID]):
                    try:
                        await self._ask(call, question, asked)
                    except UnconfirmedError as error:  # the broker is gone for a while: a restart
                        log.warning("A question is sent again when its bus is back: %s", error)
                    delivery = await self._message(call, question, asked, begun=False)
                asked.check_sequence(delivery)
                yield read_answer(call, delivery)
                while not asked.ended:
                    delivery = await self._message(call, question, asked, begun=True)
                    asked.check_sequence(delivery)
                    yield read_answer(call, delivery)
            finally:
                if not asked.ended:
                    self._cancel(call.topic, asked.properties)

    def _cancel(self, topic: Topic[Any], asked: Mapping[str, str]) -> None:
        """Ask the replica that works on a question to stop; returns before it is asked."""
        if self._closed:
            return
        task = asyncio.create_task(self._send_cancel(topic, asked), name="cancel")
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _send_cancel(self, topic: Topic[Any], asked: Mapping[str, str]) -> None:
        properties = {name: asked[name] for name in (envelope.ID, envelope.CALL)}
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT):
                await self._bus.publish(cancel_address(topic), b"", properties=properties)
        except (BusError, TimeoutError) as error:
            log.info("A call on %s could not be cancelled: %s", topic.name, error)

    async def close(self) -> None:
        """Wait until all cancellations are sent; none is sent any more."""
        self._closed = True
        await asyncio.gather(*self._cancelling, return_exceptions=True)

    @contextmanager
    def _asking(self, call: Call[Q, A], question: Q, message_id: str) -> Generator[PendingCall]:
        """Expect answers for as long as the context is open.

        Raises:
            BusError: no answer can come in any more.
        """
        if self._disconnected is not None:
            raise self._disconnected
        properties = envelope.properties_for(question)
        if message_id:
            properties[envelope.ID] = message_id
        # The id of the message may be the client's, and two users may give the same one.
        correlation = properties[envelope.CALL] = envelope.new_id()
        properties[envelope.REPLY_TO] = self._inbox.name
        properties[envelope.TIMEOUT] = str(int(call.deadline * 1000))
        asked = self._pending[correlation] = PendingCall(call, properties)
        try:
            yield asked
        finally:
            del self._pending[correlation]

    async def _first(self, call: Call[Q, A], question: Q, asked: PendingCall) -> Delivery:
        """Send the question, within the call's deadline too, and await the first answer."""
        until = asyncio.get_running_loop().time() + call.deadline
        with call_span(call.topic.name, asked.properties[envelope.ID]):
            await self._ask(call, question, asked)
            left = until - asyncio.get_running_loop().time()
            if not call.topic.persistent:
                try:
                    return await asked.next(left * _RETRY_AFTER)
                except DeadlineExceededError:
                    left *= 1 - _RETRY_AFTER
                    asked.properties[envelope.TIMEOUT] = str(int(left * 1000))
                    await self._send(call.topic, question, asked.properties, self._bus.local)
            return await asked.next(left)

    async def _message(
        self, call: Call[Q, A], question: Q, asked: PendingCall, *, begun: bool
    ) -> Delivery:
        """The next message of a stream. Without a heartbeat for too long the question is retried.

        On a topic that is not persistent, a stream that has begun was cut off then: retried, it
        would begin anew, so it fails. A persistent question is redelivered by itself, and a retried
        one finds its answer.
        """
        until = asyncio.get_running_loop().time() + call.deadline
        heartbeat_timeout = self._heartbeat_timeout.first
        while (left := until - asyncio.get_running_loop().time()) > 0:
            if asked.lost and asked.answers.empty():
                raise LostAnswerError(call.topic.name)
            try:
                delivery = await asked.next(min(heartbeat_timeout, left))
            except DeadlineExceededError:
                if begun and not call.topic.persistent:
                    raise DeadlineExceededError(call.topic.name, heartbeat_timeout) from None
                await self._ask_again(call, question, asked)
                heartbeat_timeout = min(2 * heartbeat_timeout, self._heartbeat_timeout.longest)
            else:
                if envelope.HEARTBEAT not in delivery.properties:
                    return delivery
                heartbeat_timeout = self._heartbeat_timeout.first
        raise DeadlineExceededError(call.topic.name, call.deadline)

    async def _ask(self, call: Call[Q, A], question: Q, asked: PendingCall) -> None:
        try:
            async with asyncio.timeout(call.deadline):
                await self._send(call.topic, question, asked.properties, self._bus.local)
        except TimeoutError:
            raise DeadlineExceededError(call.topic.name, call.deadline) from None

    async def _ask_again(self, call: Call[Q, A], question: Q, asked: PendingCall) -> None:
        """Repeat a question; that it cannot be sent now does not end the wait for its answer."""
        log.info("No heartbeat on %s: the question is retried.", call.topic.name)
        asked.properties[envelope.RETRY] = "true"
        try:
            await self._ask(call, question, asked)
        except (BusError, DeadlineExceededError) as error:
            log.warning("A question could not be retried: %s", error)

    async def _send(
        self,
        topic: Topic[Any],
        message: Message,
        properties: dict[str, str],
        local: LocalCalls | None = None,
    ) -> None:
        telemetry.inject(properties)
        address = Address(topic.name, persistent=topic.persistent)
        key = topic.key(message) if topic.key else ""
        if local is not None and local.ask(address, message, key, properties):
            return
        await self._bus.publish(
            address, message.model_dump_json().encode(), key=key, properties=properties
        )

    async def listen(self, inbox: Subscription) -> None:
        """Hand arriving answers to the calls under way; late and repeated ones are dropped.

        Raises:
            BusError: the inbox is gone; all calls under way get the error, and all later ones.
        """
        try:
            while True:
                self.take(await inbox.receive())
        except BusError as error:
            self._disconnected = error
            self._became_disconnected.set()
            for asked in self._pending.values():
                asked.answers.put_nowait(error)
            raise

    def take(self, delivery: Delivery) -> None:
        """Give an answer to the call that waits for it; dropped if there is none."""
        asked = self._pending.get(envelope.call_of(delivery.properties))
        if asked is not None:
            asked.take(delivery)

    async def wait_disconnected(self) -> None:
        """Wait until no answer can come in any more, which should never be, and say why.

        Raises:
            BusError: the inbox is gone.
        """
        await self._became_disconnected.wait()
        if self._disconnected is not None:
            raise self._disconnected

    @property
    def inbox(self) -> Address:
        """Where answers come in."""
        return self._inbox


@asynccontextmanager
async def open_caller(
    bus: Bus, heartbeat_timeout: HeartbeatTimeout = HeartbeatTimeout()
) -> AsyncGenerator[Caller]:
    """Open a caller with its inbox; closing it leaves no task and no subscription behind."""
    caller = Caller(bus, heartbeat_timeout)
    async with AsyncExitStack() as stack:
        subscribing = bus.subscribe(caller.inbox, "caller", Mode.EXCLUSIVE)
        inbox = await stack.enter_async_context(subscribing)
        if bus.local is not None:
            stack.enter_context(bus.local.awaiting(caller.inbox, caller.take))
        listening = asyncio.create_task(caller.listen(inbox), name="inbox")
        try:
            yield caller
        finally:
            await caller.close()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
