"""The transport contract: three verbs, two transports, one test class that proves both."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from fourtier.runtime.errors import FourtierError
from fourtier.schema.message import Message

if TYPE_CHECKING:
    from fourtier.runtime.bus.local import LocalCalls


class Mode(Enum):
    """How the consumers of a group share a topic."""

    #: Each message to any consumer.
    SHARED = "shared"
    #: Messages with one key to one consumer, in the order they were published.
    KEY_SHARED = "key-shared"
    #: One consumer only, such as a caller's own inbox.
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True, slots=True)
class Address:
    """A topic within a flow's namespace; the bus adds tenant and namespace."""

    name: str
    persistent: bool = True


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as it came, with its acknowledgement as a closure.

    Attributes:
        id: the broker's name for it, the same at each delivery.
        published_at: Unix time in seconds.
        redelivered: whether it was delivered before and not acknowledged.
        received_at: when it arrived in this process, by the clock of the event loop.
        message: what was handed over within this process; its payload is empty then.
    """

    id: str
    payload: bytes
    properties: Mapping[str, str]
    key: str
    published_at: float
    redelivered: bool
    acknowledge: Callable[[], Awaitable[None]] = field(repr=False)
    received_at: float = field(default_factory=time.monotonic)
    message: Message | None = None


class Subscription(Protocol):
    """One consumer of a group on one topic.

    A message that is in flight is not delivered a second time; one that is not acknowledged when
    the consumer leaves is delivered to another one, marked as redelivered.
    """

    async def receive(self) -> Delivery:
        """Wait for the next message.

        Raises:
            BusError: the subscription is gone, and nothing more will come.
        """
        ...

    def arrived(self, limit: int) -> Sequence[Delivery]:
        """Take at most `limit` messages that are already here, without waiting."""
        ...

    def hand_over(self, delivery: Delivery) -> bool:
        """Put a message of this process behind those that have arrived; False if it has no room."""
        ...


class Bus(Protocol):
    """A connected transport.

    Attributes:
        local: what goes from hand to hand within this process; None where nothing does.
    """

    local: "LocalCalls | None"

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
            RejectedByBusError: the broker never takes this message; to send it again is no use.
            BusError: the broker did not confirm; the message may or may not be there.
        """
        ...

    def subscribe(
        self, address: Address, group: str, mode: Mode
    ) -> AbstractAsyncContextManager[Subscription]:
        """Join a group. A new group on a persistent topic starts with the oldest stored message.

        What the group has not acknowledged is delivered again, to its consumers at that time. A
        topic that is not persistent delivers once, to the consumers that there are, and needs no
        acknowledgement.
        """
        ...

    async def create_group(self, address: Address, group: str) -> None:
        """See to it that messages are stored for this group although it has no consumer yet."""
        ...


class BusError(FourtierError):
    """The broker failed, timed out or cannot be reached."""

    type = "bus"
    temporary = True


class RejectedByBusError(BusError):
    """The broker never takes this message: it is too large, or we may not publish there."""

    temporary = False


class UnconfirmedError(BusError):
    """The broker gave no receipt in time: it may have the message or not."""
