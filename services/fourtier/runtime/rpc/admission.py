"""How much a route takes on. What is beyond that is refused at once, and told when to come back.

Without it a service that cannot keep up lets every caller wait until its deadline, the new ones as
long as the old ones. What was taken on is finished. Only what has a caller who can be told is ever
refused, and nothing that was in hand before.
"""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.errors import OverloadedError
from fourtier.runtime.rpc.envelope import Envelope

#: How much the latest message counts in the mean time that one takes.
_WEIGHT = 0.1
#: A message is taken within this many seconds, or it was waiting or in hand somewhere before.
_FRESH = 3.0


class Admission:
    """Counts what a route has in hand and knows how long that takes.

    Args:
        most: messages in hand, waiting or being handled; None for any number.
        side_by_side: how many are handled at once.
    """

    def __init__(self, topic: str, most: int | None, side_by_side: int) -> None:
        self._topic = topic
        self._most = most
        self._side_by_side = side_by_side
        self._in_hand = 0
        self._mean_seconds = 0.0

    def refusal(self, delivery: Delivery, around: Envelope) -> OverloadedError | None:
        """Why a message is not taken on; None where it is."""
        if self._most is None or self._in_hand < self._most:
            return None
        if around.reply_to is None or around.again or _may_have_begun(delivery):
            return None
        seconds = self._in_hand * self._mean_seconds / self._side_by_side
        return OverloadedError(self._topic, self._in_hand, max(1, math.ceil(seconds)))

    def take(self) -> None:
        """One more is in hand."""
        self._in_hand += 1

    def let_go(self) -> None:
        """One less is in hand."""
        self._in_hand -= 1

    @contextmanager
    def timed(self) -> Generator[None]:
        """Learn from how long the context is open, which is as long as a message is handled."""
        began = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - began
            known = self._mean_seconds or seconds
            self._mean_seconds = known + _WEIGHT * (seconds - known)


def _may_have_begun(delivery: Delivery) -> bool:
    """Whether a replica that is gone may have had it in hand; Pulsar does not always tell."""
    return delivery.redelivered or time.time() - delivery.published_at > _FRESH
