"""What the model says: look the invoice up, pay it, say so; and what it was shown on the way."""

import asyncio
import re
from collections import Counter

from tests.support.model import Calls, Fails, ModelRequest, Reply, Says

_NAME = re.compile(r"invoice (run-\d+)")


class Script:
    """Plays the model, by the prompt alone, so that a run may be taken up at any step.

    Attributes:
        shown: run to the observation of its payment, as the last prompt had it.
        answered: how often the final answer of a run was made.
        asked: how often each step of each run was asked for.
    """

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}
        self.answered: Counter[str] = Counter()
        self.asked: Counter[tuple[str, int]] = Counter()
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    def hold(self) -> None:
        """Say nothing until `go_on`."""
        self._may_go_on.clear()

    def go_on(self) -> None:
        """Answer, what was asked meanwhile too."""
        self._may_go_on.set()

    async def __call__(self, request: ModelRequest) -> Reply:
        """The next step of the run that the prompt is about."""
        reply = self._reply(request)
        await self._may_go_on.wait()
        return reply

    def _reply(self, request: ModelRequest) -> Reply:
        messages = request.messages
        asked = max(
            (at for at, message in enumerate(messages) if _is_question(message)), default=None
        )
        if asked is None:
            return Fails(400, "no run is named")
        name = _NAME.findall(messages[asked]["content"])[-1]
        results = [message["content"] for message in messages[asked:] if message["role"] == "tool"]
        self.asked[name, len(results)] += 1
        if not results:
            return Calls("look_up", {"invoice": name}, thought="I must see the invoice first")
        if len(results) == 1:
            return Calls("pay", {"invoice": name}, thought="Now I can pay it")
        self.shown[name] = results[1]
        self.answered[name] += 1
        return Says(f"Done with {name}, answer {self.answered[name]}.")


def _is_question(message: dict[str, object]) -> bool:
    return message["role"] == "user" and bool(_NAME.search(str(message["content"])))
