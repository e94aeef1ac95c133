"""What extraction learns from: one run of the agent, or one turn of dialogue."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fourtier.memory.extraction.task import result_of, task_steps
from fourtier.memory.extraction.tool_results import ToolResult, tool_results
from fourtier.memory.learning.origin import Origin, origin_of_run, origin_of_turn
from fourtier.memory.learning.statements_method import Utterance
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import Result


@dataclass(frozen=True, slots=True)
class Task:
    """What makes an episode of a run.

    Attributes:
        steps: those in which a tool did something; at least one.
        result: how the run ended, as somebody has judged it or its last step tells.
        is_known: whether that is more than its last step tells: it was judged, or has no answer.
    """

    steps: tuple[AgentStep, ...]
    ended_at: datetime
    result: Result
    is_known: bool


@dataclass(frozen=True, slots=True)
class Experience:
    """A run or a turn.

    Attributes:
        said: what the user said in a run, the speaker in a turn.
        wants_facts: whether facts are to be made of it.
        answer: of a run; what the agent says is never taken for something that the user said.
        task: None where there is no episode to tell.
        results: what tools found out in a run, if facts are to be made of that.
    """

    said: Utterance
    wants_facts: bool = True
    answer: str = ""
    task: Task | None = None
    results: Sequence[ToolResult] = ()

    @property
    def origin(self) -> Origin:
        """Where all of it comes from."""
        return self.said.origin


def of_run(event: InvocationEnded, min_steps: int, *, tool_facts: bool) -> Experience:
    """A run; a task where it has at least so many steps with tools, and an episode is wanted."""
    steps = tuple(task_steps(event)) if event.record_episode else ()
    origin = origin_of_run(event)
    return Experience(
        said=Utterance(origin, event.question, in_dialogue=False),
        wants_facts=event.extract_facts,
        answer=event.answer,
        task=Task(
            steps,
            event.ended_at,
            result_of(event, steps),
            is_known=event.result is not None or not event.succeeded,
        )
        if len(steps) >= min_steps
        else None,
        results=tuple(tool_results(event, origin)) if event.extract_facts and tool_facts else (),
    )


def of_turn(turn: DialogueTurn) -> Experience:
    """A turn of dialogue."""
    return Experience(Utterance(origin_of_turn(turn), turn.content, in_dialogue=True))
