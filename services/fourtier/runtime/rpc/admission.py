"""Admission control: how much a route takes on. What is beyond that is shed, with a time to retry.

Without it a service that cannot keep up lets every caller wait until its deadline, the new ones as
long as the old ones. What was taken on is finished. Only a message whose caller gets the error
is ever shed, and none that a replica may have begun.
"""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

from fourtier.runtime.bus.contract import Delivery
from fourtier.runtime.errors import OverloadedError
from fourtier.runtime.recent_ids import RecentIds
from fourtier.runtime.rpc.envelope import Envelope

#: How much the latest message counts in the mean time that one takes.
_WEIGHT = 0.1
#: By how many seconds the clocks of a publisher and of this process may differ.
_CLOCK_SKEW = 5.0
#: A younger message, in seconds, was not in flight anywhere else.
_FRESH = 3.0
#: A replica leaves at most what it may have in flight; room for three that go at the same time.
HEADROOM = 4


class Admission:
    """Counts what a route has in flight and knows how long that takes.

    Args:
        max_in_flight: messages waiting or being handled; None for any number.
        max_concurrency: how many are handled at once.
    """

    def __init__(self, topic: str, max_in_flight: int | None, max_concurrency: int) -> None:
        self._topic = topic
        self._max_in_flight = max_in_flight
        self._max_concurrency = max_concurrency
        self._since = time.time()
        self._in_flight = 0
        self._mean_seconds = 0.0
        #: Calls that were shed: a copy of one, sent before its caller knew, is shed as well.
        self._shed = RecentIds()

    def overload(self, delivery: Delivery, received: Envelope) -> OverloadedError | None:
        """Why a message is shed; None where it is taken on."""
        if self._max_in_flight is None or received.reply_to is None:
            return None
        if received.call not in self._shed and self._has_room(delivery, received):
            return None
        if received.call != received.id:  # else a later call with this id would be shed for ever
            self._shed.add(received.call)
        seconds = self._in_flight * self._mean_seconds / self._max_concurrency
        return OverloadedError(self._topic, self._in_flight, max(1, math.ceil(seconds)))

    def _has_room(self, delivery: Delivery, received: Envelope) -> bool:
        limit = self._max_in_flight or 0
        if self._in_flight < limit or received.is_retry or self._has_begun(delivery):
            return True
        return self._is_old(delivery) and self._in_flight < HEADROOM * limit

    def _has_begun(self, delivery: Delivery) -> bool:
        """Whether a replica that is gone had it in flight, or may have had before this one came.

        A publisher whose clock is wrong has its messages taken on, or shed, too often: no more.
        """
        return delivery.redelivered or delivery.published_at < self._since + _CLOCK_SKEW

    def _is_old(self, delivery: Delivery) -> bool:
        """Whether it may have been in flight elsewhere: Pulsar does not mark what it redelivers.

        On a busy machine new messages are old too when they arrive. So old ones are taken on only
        as far as the replicas that have gone can have left some: there is an end to it.
        """
        return time.time() - delivery.published_at > _FRESH

    def take(self) -> None:
        """One more is in flight."""
        self._in_flight += 1

    def release(self) -> None:
        """One less is in flight."""
        self._in_flight -= 1

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
