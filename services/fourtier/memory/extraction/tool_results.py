"""What the agent's tools found out in a run: a source of facts besides the user.

A fact that a tool gave has the tool as its speaker, `tool:NAME`, and the step in its metadata, so
that nobody takes it for something that the user said.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fourtier.memory.extraction.task import failed, is_work
from fourtier.memory.learning.commands import fact_of_statement
from fourtier.memory.learning.origin import Origin
from fourtier.memory.statements.extraction_rules import statements_to_agent
from fourtier.memory.statements.sentence_kinds import words
from fourtier.memory.statements.vocabulary import SPEAKER
from fourtier.models.text.instructions import is_forged, is_order_to_assistant
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.facts import StoreFactRequest

#: Characters of a result that is taken for a statement without asking a model.
_MAX_STATEMENT = 200
#: Facts that the tools of one run may give.
MAX_TOOL_FACTS = 10
_MAX_SPEAKER = 512
#: A number, or a name inside of the sentence.
_CONCRETE = re.compile(r"\d|(?<=[\w,;] )[A-Z][\w'-]*[a-z]")
#: A result that begins like this is data, not a sentence.
_DATA = ("{", "[", "<", "|", "-", "*", "#")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result.

    Attributes:
        number: of the step among all steps of the run, from 1.
        origin: where a fact of it comes from.
    """

    number: int
    step: AgentStep
    origin: Origin


def tool_results(event: InvocationEnded, origin: Origin) -> Iterator[ToolResult]:
    """The results of a run's tools that are neither memory's own nor errors."""
    for number, step in enumerate(event.steps, start=1):
        if is_work(step) and not failed(step) and step.observation.strip():
            speaker = f"tool:{step.action}"[:_MAX_SPEAKER]
            metadata = {**origin.metadata, "tool": step.action, "step": number}
            found_by = replace(origin, speaker=speaker, metadata=metadata)
            yield ToolResult(number, step, found_by.of_statement(number))


def stated_by_tools(results: Iterable[ToolResult]) -> Iterator[StoreFactRequest]:
    """Facts by rule: of a result that is one short sentence which states something definite.

    Tables, lists, JSON and texts are left to a model, so that a search does not flood memory.
    """
    for result in results:
        text = result.step.observation.strip()
        if len(text) > _MAX_STATEMENT or "\n" in text or text.startswith(_DATA):
            continue
        stated = statements_to_agent(text)
        if is_forged(text) or is_order_to_assistant(text):
            continue
        if len(stated) == 1 and stated[0].quote == text and _is_definite(stated[0].content):
            yield fact_of_statement(result.origin, stated[0])


def _is_definite(content: str) -> bool:
    """Whether it tells of something with a name or a number, and of nobody who speaks."""
    return bool(_CONCRETE.search(content)) and not SPEAKER.intersection(words(content))
