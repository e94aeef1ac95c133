"""What the model says: look the invoice up, pay it, say so; and what it was shown on the way."""

import re
from collections import Counter

from tests.support.model import Calls, Fails, ModelRequest, Reply, Says

_NAME = re.compile(r"invoice (run-\d+)")


class Script:
    """Plays the model, by the prompt alone, so that a run may be taken up at any step.

    Attributes:
        shown: run to the observation of its payment, as the last prompt had it.
        answered: how often the final answer of a run was made.
    """

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}
        self.answered: Counter[str] = Counter()

    def __call__(self, request: ModelRequest) -> Reply:
        """The next step of the run that the prompt is about."""
        messages = request.messages
        asked = max(
            (at for at, message in enumerate(messages) if _is_question(message)), default=None
        )
        if asked is None:
            return Fails(400, "no run is named")
        name = _NAME.findall(messages[asked]["content"])[-1]
        results = [message["content"] for message in messages[asked:] if message["role"] == "tool"]
        if not results:
            return Calls("look_up", {"invoice": name}, thought="I must see the invoice first")
        if len(results) == 1:
            return Calls("pay", {"invoice": name}, thought="Now I can pay it")
        self.shown[name] = results[1]
        self.answered[name] += 1
        return Says(f"Done with {name}, answer {self.answered[name]}.")


def _is_question(message: dict[str, object]) -> bool:
    return message["role"] == "user" and bool(_NAME.search(str(message["content"])))
