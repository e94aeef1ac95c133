"""What an agent asks of a tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Metadata, Scope


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run in which a tool is used.

    Attributes:
        run_id: the same when a run is continued after a crash.
        scope: the user and the collection whose memory the run uses.
        conversation_id: the conversation that the run belongs to.
        caller: asks other services of the flow.
        said_at: when what the tool learns counts as said: when the question was sent, whenever the
            tool runs, and one microsecond later for each step.
        question: what the user asked in the run, word for word.
        step: the run's step in which the tool is used, from 0.
    """

    run_id: str
    scope: Scope
    conversation_id: str
    caller: Caller
    said_at: datetime
    question: str = ""
    step: int = 0


class ToolError(Exception):
    """A tool could not do what it was asked; the model reads the text as its observation."""


class Tool(Protocol):
    """Something the model may use.

    Attributes:
        spec: name, description and the JSON schema of its arguments.
        idempotent: whether running it twice has the same effect as running it once. A tool that is
            not idempotent is never run again after a crash in the middle of it.
        groups: a request that names groups is offered only tools of one of them.
    """

    @property
    def spec(self) -> ToolSpec:
        """How it is offered to the model."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether it may be run again."""
        ...

    @property
    def groups(self) -> Sequence[str]:
        """The groups that it belongs to."""
        ...

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """Do it; the result is what the model reads.

        Raises:
            ToolError: it could not be done.
        """
        ...
