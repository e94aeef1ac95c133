"""A model that learns, and rules that take over where it cannot: nothing that was said is lost."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from fourtier.memory.learning.learned import Learned, Method
from fourtier.memory.learning.outage import ModelOutage
from fourtier.models.text.structured import BadOutputError
from fourtier.runtime.errors import (
    CallFailedError,
    DeadlineExceededError,
    UnavailableError,
)
from fourtier.runtime.telemetry import CountedMetric
from fourtier.schema.completion import COMPLETE

log = logging.getLogger(__name__)

T = TypeVar("T")
Experience = TypeVar("Experience")

FALLBACKS = CountedMetric(
    "fourtier.learning.fallbacks",
    "messages that were learned from by rule because the model could not be used",
    "{message}",
)


class Fallback:
    """Asks a model, and goes by rule where it cannot be used; see `ModelWithRules`.

    Args:
        what: is done, as the log says it.
        service: by whose name failures are counted.
        seconds: that the model may take.
        outage_seconds: for how long messages wait for a model that is unavailable.
    """

    def __init__(self, what: str, service: str, seconds: float, outage_seconds: float) -> None:
        self._what = what
        self._service = service
        self._seconds = seconds
        self._outage = ModelOutage(outage_seconds)

    async def ask(self, model: Callable[[], Awaitable[T]], rule: Callable[[], Awaitable[T]]) -> T:
        """What the model answers, or the rule.

        Raises:
            CallFailedError, UnavailableError: the model is unavailable, and waited for.
        """
        try:
            answer = await self._in_time(model)
        except (BadOutputError, CallFailedError, UnavailableError) as error:
            if self._outage.is_waited_for(error):
                raise
            group = {"messaging.consumer.group.name": self._service}
            FALLBACKS.add(1, {**group, "error.type": error.type})
            log.warning("%s by rule, for the model failed: %s", self._what, error)
            return await rule()
        self._outage.end()
        return answer

    async def _in_time(self, model: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await model()
        except TimeoutError as error:
            raise DeadlineExceededError(COMPLETE.topic.name, self._seconds) from error


class ModelWithRules(Generic[Experience]):
    """Asks the model; where it cannot be used, the rules learn from the message.

    - An endpoint that rejects the request, has no tokens left today or gives answers that cannot be
      read however often it is asked: the rules take over at once.
    - A model that is unreachable or busy is waited for: the error is raised, and the message
      retried. After `outage_seconds` without an answer the rules take over, for this message and
      for each that comes until the model answers again.
    - Too many completions at a time are not a failure of the model: the message waits.

    The rules find less than a model does. What they miss of a run, promotion may still find at the
    end of its conversation.

    Args:
        seconds: that learning from one message may take.
        outage_seconds: for how long messages wait for a model that is unavailable.
    """

    def __init__(
        self,
        service: str,
        *,
        model: Method[Experience],
        rules: Method[Experience],
        seconds: float,
        outage_seconds: float,
    ) -> None:
        self._model = model
        self._rules = rules
        self._fallback = Fallback(f"{service} learns", service, seconds, outage_seconds)

    async def learn(self, experience: Experience) -> Learned:
        """Learn by the model, or by rule.

        Raises:
            CallFailedError, UnavailableError: the model is unavailable, and waited for.
        """
        return await self._fallback.ask(
            lambda: self._model.learn(experience), lambda: self._rules.learn(experience)
        )
