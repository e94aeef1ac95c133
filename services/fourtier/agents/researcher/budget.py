"""What a research may take, and what it has taken."""

import time

from fourtier.agents.researcher.checkpoint import Checkpoint
from fourtier.models.text.structured import Usage
from fourtier.schema.researcher import Method


class Budget:
    """Time and completions of one research.

    Args:
        seconds: after so long no round begins, and no model is waited for.
        method: the one that was chosen.
        max_completions: how often the model may be asked.

    Attributes:
        usage: what the model's completions took.
        degraded: roles that went by rule although a model was chosen, and why; see `Receipt`.
        resumed: how often the research went on from where it had been interrupted.
    """

    def __init__(self, seconds: float, method: Method = "rule", max_completions: int = 0) -> None:
        self.method: Method = method
        self.max_completions = max_completions
        self.usage = Usage()
        self.degraded: dict[str, str] = {}
        self.resumed = 0
        self._begun = time.monotonic()
        self._seconds = seconds

    def take_up(self, checkpoint: Checkpoint, *, resumed: bool) -> None:
        """Count what was taken before an interruption, too; the time in between does not count.

        Args:
            checkpoint: the state at that time.
            resumed: whether the research goes on from there, or begins anew.
        """
        self.usage.completions += checkpoint.completions
        self.usage.in_token += checkpoint.in_token
        self.usage.out_token += checkpoint.out_token
        self.degraded |= checkpoint.degraded
        self.resumed = checkpoint.resumed + resumed
        self._begun -= checkpoint.milliseconds / 1_000

    @property
    def milliseconds(self) -> float:
        """Since the research began."""
        return (time.monotonic() - self._begun) * 1_000

    @property
    def seconds_left(self) -> float:
        """Until its time is over; less than 0 when it is."""
        return self._begun + self._seconds - time.monotonic()

    @property
    def completions_left(self) -> int:
        """How often the model may still be asked."""
        return max(0, self.max_completions - self.usage.completions)

    @property
    def is_out_of_completions(self) -> bool:
        """Whether a model was chosen that must not be asked any more."""
        return self.method == "llm" and self.completions_left == 0
