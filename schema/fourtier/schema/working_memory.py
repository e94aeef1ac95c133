"""Messages of `working-memory`: the trace of one run, stored until the run has ended.

A research under way is kept in the same way, see `RESEARCH_STATE`.
"""

from typing import Literal

from pydantic import Field

from fourtier.schema.message import (
    MAX_ITEMS,
    MAX_OFFSET,
    Answer,
    Arguments,
    LongText,
    Message,
    Name,
    OptionalName,
    Scoped,
    Timestamp,
)
from fourtier.schema.topics import command, query

#: With this begins the `run_id` under which `researcher` keeps a research until it has ended. It is
#: no run of the agent's: it is not listed as one, and is dropped whenever its scope forgets.
RESEARCH_STATE = "fourtier.research/"


class WorkingMemoryItem(Message):
    """One thought, action, observation or final answer.

    `id` is made from the run and the step, so that a step written twice is there once. An `action`
    whose observation is missing was begun and not finished.
    """

    id: Name
    step: int = Field(ge=0, le=MAX_OFFSET)
    type: Literal["thought", "action", "observation", "answer"]
    content: LongText
    timestamp: Timestamp
    metadata: Arguments = {}


class InRun(Scoped):
    """A message about one run."""

    run_id: Name


class Trace(Message):
    """A run's working memory as the next prompt shows it.

    `condensed` stands for the steps older than `items`; it is empty until the trace has outgrown
    its threshold. `omitted` counts older items that did not fit into the answer.
    """

    condensed: str = ""
    items: tuple[WorkingMemoryItem, ...] = ()
    omitted: int = 0
    tokens: int = 0


class AppendWorkingMemoryRequest(InRun):
    """Add items and read back the trace, compressed if it has grown past `threshold` tokens.

    `keep_last` steps stay word for word. `question_id` names the question of the run: see
    `GetWorkingMemoryResponse`.
    """

    question_id: OptionalName = ""
    items: tuple[WorkingMemoryItem, ...] = Field(max_length=MAX_ITEMS)
    threshold: int = Field(default=2_000, ge=1, le=1_000_000)
    keep_last: int = Field(default=2, ge=1, le=MAX_ITEMS)


class AppendWorkingMemoryResponse(Answer):
    """Sent when the items are on disk."""

    trace: Trace


class GetWorkingMemoryRequest(InRun):
    """Read what a run has done so far; `full` leaves the compression out."""

    full: bool = False


class GetWorkingMemoryResponse(Answer):
    """`answer` is set when the run had ended; an unknown run has an empty trace.

    `opted_out` says that nothing is remembered of the run's user. `question_id` is the one that
    the first append gave: a request with another one has taken the id of a run that is not its own.
    """

    trace: Trace
    question_id: OptionalName = ""
    answer: str | None = None
    opted_out: bool = False


class DiscardWorkingMemoryRequest(InRun):
    """Drop a run's steps. Its answer stays a while, so that a repeated request is not run again.

    Of a user who has opted out nothing stays.
    """


class DiscardWorkingMemoryResponse(Answer):
    """How many items were dropped."""

    discarded: int


def by_run(message: InRun) -> str:
    """Key that keeps one run's steps in order."""
    return f"{message.scope.key}/{message.run_id}"


APPEND_WORKING_MEMORY = command(
    "working-memory.append", AppendWorkingMemoryRequest, AppendWorkingMemoryResponse, key=by_run
)
GET_WORKING_MEMORY = query("working-memory.get", GetWorkingMemoryRequest, GetWorkingMemoryResponse)
DISCARD_WORKING_MEMORY = command(
    "working-memory.discard", DiscardWorkingMemoryRequest, DiscardWorkingMemoryResponse, key=by_run
)
