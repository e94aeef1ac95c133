"""Batches in which the keys of a topic take turns, so that no key waits for a flood of another."""

from collections import deque
from collections.abc import Sequence

from fourtier.runtime.bus.contract import Delivery, Subscription

#: Messages that are looked at to find other keys.
_MAX_WAITING = 2_000


class FairBatches:
    """Messages that have arrived, by their key. Those of one key stay in their order.

    Args:
        subscription: where messages come from.
        max_size: messages in a batch.
    """

    def __init__(self, subscription: Subscription, max_size: int) -> None:
        self._subscription = subscription
        self._max_size = max_size
        self._waiting: dict[str, deque[Delivery]] = {}
        self._number = 0

    def __bool__(self) -> bool:
        """Whether messages wait."""
        return self._number > 0

    def add(self, delivery: Delivery) -> None:
        """Put a message behind those of its key."""
        self._waiting.setdefault(delivery.key, deque()).append(delivery)
        self._number += 1

    def next(self) -> Sequence[Delivery]:
        """The next batch: one message of each key in turn, of those that have arrived."""
        for delivery in self._subscription.arrived(_MAX_WAITING - self._number):
            self.add(delivery)
        batch: list[Delivery] = []
        while self._waiting and len(batch) < self._max_size:
            key = next(iter(self._waiting))
            of_key = self._waiting.pop(key)
            batch.append(of_key.popleft())
            if of_key:
                self._waiting[key] = of_key  # behind the other keys
        self._number -= len(batch)
        return batch
