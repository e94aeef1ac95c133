"""When a run was a task, and what its steps tell of how it went; no model is asked.

A run is a task when it used tools that do something in at least `min_steps` steps (two, unless the
flow says otherwise). Looking into memory is not a task, and asking for a tool that does not exist
is not a step; the agent says of each step what became of it. An answer from the head, or after one
look at the clock, leaves no episode.
"""

import json
import re
from collections.abc import Sequence

from fourtier.memory.statements.text import shorten
from fourtier.schema.agent import MEMORY_TOOL_NAMES, AgentStep, InvocationEnded
from fourtier.schema.episodes import Result

#: How tools word it that did not fail and tell of an error in their result.
_TELLS_OF_AN_ERROR = re.compile(
    r"^\W*(?:error\s*[:(\d\"]|exception\s*[:(]|traceback\b|failure\s*:|failed\s*(?::|to\b))",
    re.IGNORECASE,
)
_FAILED = frozenset({"failed", "interrupted", "not-run"})
_GIST, _ARGUMENTS = 160, 120


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
    return f"{_use(step)}: {shorten(step.observation, _GIST) or 'nothing'}"


def result_of(event: InvocationEnded, steps: Sequence[AgentStep]) -> Result:
    """A run succeeded when it has an answer and its last tool did not fail."""
    return "success" if event.succeeded and not (steps and failed(steps[-1])) else "failure"


def lessons_of(steps: Sequence[AgentStep]) -> str:
    """What failed, and what worked instead.

    That is the next use of the same tool that did not fail, or else the next step that did not.
    """
    lessons: list[str] = []
    for index, step in enumerate(steps):
        if not failed(step):
            continue
        later = [other for other in steps[index + 1 :] if not failed(other)]
        same = [other for other in later if other.action == step.action]
        instead = next(iter(same or later), None)
        gist = shorten(step.observation, _GIST).rstrip(".")
        remedy = f"; {_use(instead)} worked instead" if instead else ""
        lessons.append(f"{_use(step)} did not work ({gist}){remedy}.")
    return " ".join(dict.fromkeys(lessons))


def _use(step: AgentStep) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False) if step.arguments else ""
    return f"{step.action}({shorten(arguments, _ARGUMENTS)})"
