"""Calls within one process: from hand to hand, without the broker.

A question that is not stored, and an answer, which never is, need no broker where both sides are
in one process and on one connection. They are put where the broker would have delivered them, as
the objects that they are: messages are frozen, so there is no JSON either. All the rest is as with
the broker: properties, deadlines, limits, heartbeats, spans, metrics. Commands and events always go
through the broker, which is what remembers them.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from itertools import count

from fourtier.runtime.bus.contract import Address, Delivery, Subscription
from fourtier.schema.message import Message


class LocalCalls:
    """Who serves topics and awaits answers here, over one connection to the bus."""

    def __init__(self) -> None:
        self._serving: dict[str, list[Subscription]] = {}
        self._awaiting: dict[str, Callable[[Delivery], None]] = {}
        self._ids = count(1)

    @contextmanager
    def serving(self, address: Address, subscription: Subscription) -> Generator[None]:
        """Questions on a topic may be handed to this subscription while the context is open.

        What is to be stored goes through the broker all the same.
        """
        if address.persistent:
            yield
            return
        here = self._serving.setdefault(address.name, [])
        here.append(subscription)
        try:
            yield
        finally:
            here.remove(subscription)
            if not here:
                del self._serving[address.name]

    @contextmanager
    def awaiting(self, inbox: Address, take: Callable[[Delivery], None]) -> Generator[None]:
        """Answers to an inbox are handed to `take` while the context is open."""
        self._awaiting[inbox.name] = take
        try:
            yield
        finally:
            del self._awaiting[inbox.name]

    def ask(
        self, address: Address, message: Message, key: str, properties: Mapping[str, str]
    ) -> bool:
        """Hand over a question; False where nobody here serves its topic, or has no room for it."""
        here = self._serving.get(address.name)
        if not here or address.persistent:
            return False
        here.append(here.pop(0))  # replicas in one process take turns
        return here[-1].hand_over(self._delivery(message, key, properties))

    def answer(self, inbox: str, message: Message, properties: Mapping[str, str]) -> bool:
        """Hand over an answer; False where its caller is not here."""
        take = self._awaiting.get(inbox)
        if take is None:
            return False
        take(self._delivery(message, "", properties))
        return True

    def _delivery(self, message: Message, key: str, properties: Mapping[str, str]) -> Delivery:
        return Delivery(
            id=f"local-{next(self._ids)}",
            payload=b"",
            properties=dict(properties),
            key=key,
            published_at=time.time(),
            redelivered=False,
            acknowledge=_nothing_to_acknowledge,
            message=message,
        )


async def _nothing_to_acknowledge() -> None:
    """It is stored nowhere."""
