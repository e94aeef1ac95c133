"""A model that makes memos, and the rule where it cannot be used."""

import asyncio
import logging

from fourtier.memory.learning.fallback import FALLBACKS
from fourtier.memory.learning.outage import ModelOutage
from fourtier.memory.memoriser.memo import Method, WrittenMemo
from fourtier.memory.memoriser.page import ClosedPage
from fourtier.models.text.structured import BadOutputError
from fourtier.runtime.errors import CallFailedError, DeadlineExceededError, UnavailableError
from fourtier.schema.completion import COMPLETE

log = logging.getLogger(__name__)


class ModelWithRule:
    """Asks the model; what it cannot do goes by rule, as in `learning.fallback`.

    A model that is unreachable or busy is waited for: the error is raised, and the event retried.

    Args:
        service: by whose name failures are counted.
        seconds: that one memo may take.
        outage_seconds: for how long pages wait for a model that is unavailable.
    """

    def __init__(
        self,
        service: str,
        *,
        model: Method,
        rule: Method,
        seconds: float,
        outage_seconds: float,
    ) -> None:
        self._service = service
        self._model = model
        self._rule = rule
        self._seconds = seconds
        self._outage = ModelOutage(outage_seconds)

    async def write(self, page: ClosedPage) -> WrittenMemo:
        """Say what a page is about.

        Raises:
            CallFailedError, UnavailableError: the model is unavailable, and waited for.
        """
        try:
            written = await self._ask(page)
        except (BadOutputError, CallFailedError, UnavailableError) as error:
            if self._outage.is_waited_for(error):
                raise
            group = {"messaging.consumer.group.name": self._service}
            FALLBACKS.add(1, {**group, "error.type": error.type})
            log.warning("%s goes by rule, for the model failed: %s", self._service, error)
            return await self._rule.write(page)
        self._outage.end()
        return written

    async def _ask(self, page: ClosedPage) -> WrittenMemo:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._model.write(page)
        except TimeoutError as error:
            raise DeadlineExceededError(COMPLETE.topic.name, self._seconds) from error
