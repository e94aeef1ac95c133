"""How long messages wait for a model that cannot be used, before the rules take over."""

import time

from fourtier.runtime.errors import FourtierError, OverloadedError


class ModelOutage:
    """Remembers since when the model is unavailable.

    Args:
        seconds: for how long messages wait for it.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: float | None = None

    def is_waited_for(self, error: FourtierError) -> bool:
        """Whether a message is to be retried by the model: the error may pass, and soon enough.

        Too many completions at a time are not a failure of the model.
        """
        if error.type == OverloadedError.type:
            return True
        if not error.temporary:
            return False
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since < self._seconds

    def end(self) -> None:
        """Note that the model has answered."""
        self._since = None
