"""When a run was a task, and what its steps tell of how it went; no model is asked.

A run is a task when it used tools that do something in at least `min_steps` steps (two, unless the
flow says otherwise). Looking into memory is not a task, and asking for a tool that does not exist
is not a step; the agent says of each step what became of it. An answer from the head, or after one
look at the clock, leaves no episode.
"""

import re
from collections.abc import Sequence

from fourtier.memory.statements.text import shorten
from fourtier.models.text.tool_calls import written
from fourtier.schema.agent import MEMORY_TOOL_NAMES, AgentStep, InvocationEnded
from fourtier.schema.episodes import Result

#: How tools word it that did not fail and tell of an error in their result.
_TELLS_OF_AN_ERROR = re.compile(
    r"^\W*(?:error\s*[:(\d\"]|exception\s*[:(]|traceback\b|failure\s*:|failed\s*(?::|to\b))",
    re.IGNORECASE,
)
_FAILED = frozenset({"failed", "interrupted", "not-run"})
#: Characters of a result and of a step's arguments; and of arguments that stand in a lesson.
_GIST, _ARGUMENTS, _IN_LESSON = 160, 300, 80


def task_steps(event: InvocationEnded) -> list[AgentStep]:
    """The steps in which a tool that does something was really used."""
    return [step for step in event.steps if event.question.strip() and is_work(step)]


def is_work(step: AgentStep) -> bool:
    """Whether a tool was used that does something besides reading or writing memory."""
    action = step.action
    return bool(action) and action not in MEMORY_TOOL_NAMES and step.status != "rejected"


def failed(step: AgentStep) -> bool:
    """Whether the tool could not do what it was asked."""
    return step.status in _FAILED or bool(_TELLS_OF_AN_ERROR.match(step.observation))


def in_one_line(step: AgentStep) -> str:
    """A step as an episode stores it: the tool, its arguments, the gist of what came of it."""
    return f"{_use(step, _ARGUMENTS)}: {shorten(step.observation, _GIST) or 'nothing'}"


def result_of(event: InvocationEnded, steps: Sequence[AgentStep]) -> Result:
    """As somebody has judged the run; else it succeeded with an answer and a last tool that did."""
    if event.result is not None:
        return event.result
    return "success" if event.succeeded and not (steps and failed(steps[-1])) else "failure"


def lessons_of(steps: Sequence[AgentStep]) -> str:
    """What worked where something else had failed, and what failed for good.

    What worked is the next use of the same tool that did not fail, or else the next step that did
    not. It comes first, for a prompt may have no place for all of it.
    """
    failures: dict[str, list[AgentStep]] = {}
    for index, step in enumerate(steps):
        if not failed(step):
            continue
        later = [other for other in steps[index + 1 :] if not failed(other)]
        same = [other for other in later if other.action == step.action]
        instead = next(iter(same or later), None)
        failures.setdefault(_use(instead, _IN_LESSON) if instead else "", []).append(step)
    return " ".join(_lesson(instead, some) for instead, some in failures.items())


def _lesson(instead: str, failures: Sequence[AgentStep]) -> str:
    uses = ", ".join(dict.fromkeys(_use(step, _IN_LESSON) for step in failures))
    gist = shorten(failures[0].observation, _GIST).rstrip(".")
    if instead:
        return f"{instead} worked where {uses} did not ({gist})."
    return f"{uses} did not work ({gist})."


def _use(step: AgentStep, characters: int) -> str:
    return written(step.action, step.arguments, characters)
