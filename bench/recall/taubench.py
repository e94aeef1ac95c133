"""tau-bench (MIT): recorded runs of an agent as memory hears of them, and the requests they got.

Each of 50 tasks of an airline was tried four times. A trial is a run whose steps are the agent's
tools, `respond` among them, as the benchmark has it: the tool that says something to the customer,
and whose result is what the customer answers. What the customer said first is the run's question.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from bench.recall.datasets import DATA, Dataset, Question

from fourtier.client import Client
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.episodes import Episode, Result
from fourtier.schema.message import Scope

_FILE = DATA / "taubench/gpt-4o-airline.json"
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_STOP = "###STOP###"


@dataclass(frozen=True)
class Trial:
    """One try of a task.

    Attributes:
        asked: the task's request, in the words of its author.
        said: all that the customer said, in its order.
        answer: the last words of the agent.
    """

    task: int
    number: int
    result: Result
    asked: str
    said: Sequence[str]
    steps: Sequence[AgentStep]
    answer: str

    @property
    def run_id(self) -> str:
        """Names the trial."""
        return f"task-{self.task}-trial-{self.number}"


def trials() -> list[Trial]:
    """All trials, by number and task; ends the program where the data is not there."""
    if not _FILE.is_file():
        sys.exit(f"skipped: {_FILE} is not there")
    found = [_trial(each) for each in json.loads(_FILE.read_text("utf-8"))]
    return sorted(found, key=lambda each: (each.number, each.task))


def taubench() -> Dataset:
    """What each trial's agent could know: the runs of all tasks but those of its own number.

    There is a user for each number, who has the runs of the three others. Three questions are asked
    for each trial, by what an agent may know of a task: the whole request, all that the customer
    says, or only what is said first. Evidence are the runs of the same task. Even tasks are one
    half of the questions, odd ones the other.
    """
    known = trials()
    texts = {
        "request": lambda trial: trial.asked,
        "all that is said": lambda trial: " ".join(trial.said),
        "said first": lambda trial: trial.said[0],
    }
    questions = [
        Question(user_without(trial.number), text(trial), kind, _others(trial, known), "")
        for kind, text in texts.items()
        for trial in known
    ]
    runs = [
        _run(trial, user_without(number))
        for number in sorted({trial.number for trial in known})
        for trial in known
        if trial.number != number
    ]
    return Dataset("taubench", [], questions, runs=runs, more=_comparisons)


async def _comparisons(client: Client, questions: Sequence[Question]) -> list[str]:
    """How often success is told from failure, among the three episodes that an agent is shown."""
    runs = {trial.run_id: trial for trial in trials()}
    both = reported = right = counted = 0
    for question in questions:
        scope = Scope(question.user, "default")
        shown = await client.episodes.search(scope, question.text)
        ends = {runs[name].result for name in question.evidence}
        if len(ends) == 2:
            counted += 1
            both += ends == {
                each.result for each in shown if each.invocation_id in question.evidence
            }
        for each in shown:
            if each.compared_with:
                other = await client.episodes.get(scope, each.compared_with)
                reported += 1
                right += other is not None and _task(other) == _task(each)
    pairs = f"{100 * both / max(1, counted):.0f} % of {counted}"
    same = f"{100 * right / max(1, reported):.0f} %"
    return [
        f"a success and a failure, where the task has both, are among the first three: {pairs}",
        f"{reported} comparisons, {same} of them with a trial of the same task",
    ]


def _task(episode: Episode) -> str:
    return episode.invocation_id.partition("-trial-")[0]


def user_without(number: int) -> str:
    """The user whose memory has no trial of that number."""
    return f"taubench-without-{number}"


def _others(trial: Trial, known: Sequence[Trial]) -> frozenset[str]:
    same = (each for each in known if each.task == trial.task)
    return frozenset(each.run_id for each in same if each.number != trial.number)


def _run(trial: Trial, user: str) -> InvocationEnded:
    began = _BEGAN + timedelta(hours=trial.number, minutes=trial.task)
    return InvocationEnded(
        user=user,
        conversation_id=trial.run_id,
        run_id=trial.run_id,
        question=trial.said[0],
        answer=trial.answer,
        steps=tuple(trial.steps),
        result=trial.result,
        started_at=began,
        ended_at=began + timedelta(seconds=30),
    )


def _trial(record: Mapping[str, Any]) -> Trial:
    messages = record["traj"][1:]  # behind the rules of the airline
    said = [_said(each) for each in messages if each["role"] == "user"]
    return Trial(
        task=record["task_id"],
        number=record["trial"],
        result="success" if record["reward"] == 1 else "failure",
        asked=record["info"]["task"]["instruction"],
        said=[each for each in said if each],
        steps=list(_steps(messages)),
        answer=next((each["content"] for each in messages[::-1] if each["role"] == "assistant"), "")
        or "",
    )


def _steps(messages: Sequence[Mapping[str, Any]]) -> Iterator[AgentStep]:
    """A step for each message of the agent that something came back to."""
    for message, reply in pairwise(messages):
        if message["role"] != "assistant" or reply["role"] == "assistant":
            continue
        name, arguments = "respond", {"content": message["content"] or ""}
        if message.get("tool_calls"):
            function = message["tool_calls"][0]["function"]
            name, arguments = function["name"], json.loads(function["arguments"])
        content = _said(reply) if reply["role"] == "user" else str(reply["content"])
        if content:
            yield AgentStep(action=name, arguments=arguments, observation=content, status="ok")


def _said(message: Mapping[str, Any]) -> str:
    return str(message["content"] or "").replace(_STOP, "").strip()
