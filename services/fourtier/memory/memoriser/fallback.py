"""A model that makes memos, and the rule where it cannot be used."""

from fourtier.memory.learning.fallback import Fallback
from fourtier.memory.memoriser.memo import Method, WrittenMemo
from fourtier.memory.memoriser.page import ClosedPage


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
        self._model = model
        self._rule = rule
        self._fallback = Fallback(f"{service} goes", service, seconds, outage_seconds)

    async def write(self, page: ClosedPage) -> WrittenMemo:
        """Say what a page is about.

        Raises:
            CallFailedError, UnavailableError: the model is unavailable, and waited for.
        """
        return await self._fallback.ask(
            lambda: self._model.write(page), lambda: self._rule.write(page)
        )
