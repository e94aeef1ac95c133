"""Method `llm`: a model is asked, once for each run or turn."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from fourtier.memory.extraction.experience import Experience, Task
from fourtier.memory.extraction.task import in_one_line
from fourtier.memory.extraction.tool_results import MAX_TOOL_FACTS
from fourtier.memory.learning.candidates import Candidates, find_candidates
from fourtier.memory.learning.commands import episode_of_model, facts_of_model
from fourtier.memory.learning.grounding import Source
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.model_method import ModelMethod
from fourtier.memory.learning.model_output import (
    LearnedEpisode,
    LearnedFacts,
    LearnedFromTask,
    LearnedFromTools,
    ToolFact,
)
from fourtier.memory.statements.text import shorten
from fourtier.models.text.prompts import Prompts
from fourtier.models.text.tokens import clip
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

#: Characters of a tool's result that the model is shown.
_MAX_RESULT = 1_500


class ExtractionByModel(ModelMethod):
    """Learns from what a model makes of it.

    Args:
        prompt_tokens: how much of what happened the model is shown.
        candidates: how many known facts it is shown, to say which of them no longer hold.
    """

    def __init__(
        self,
        caller: Caller,
        max_statements: int,
        *,
        prompt_tokens: int,
        candidates: int,
        prompts: Prompts,
    ) -> None:
        super().__init__(caller, "fourtier.memory.extraction", max_statements, prompts)
        self._prompt_tokens = prompt_tokens
        self._candidates = candidates
        self._facts = self.prompt("facts")
        self._tools = f"{self._facts}\n\n{self.prompt('tools')}"
        self._task = f"{self._tools}\n\n{self.prompt('task')}"

    async def learn(self, experience: Experience) -> Learned:
        """Facts and, of a task, the episode, in one completion; none where nothing is wanted."""
        task = experience.task
        if not experience.wants_facts and task is None:
            return Learned()
        known = await self._known(experience)
        shown = self._shown(experience, known)
        if task is not None:
            learned = await self.ask(self._task, shown, LearnedFromTask)
            written = _episode(experience, task, learned.episode) if learned.episode else None
            return self._learned(experience, learned, learned.tool_facts, known, written)
        if experience.results:
            found = await self.ask(self._tools, shown, LearnedFromTools)
            return self._learned(experience, found, found.tool_facts, known)
        stated = await self.ask(self._facts, shown, LearnedFacts)
        return self._learned(experience, stated, (), known)

    async def _known(self, experience: Experience) -> Candidates:
        if not experience.wants_facts:
            return Candidates()
        said = experience.said
        return await find_candidates(self.caller, said.origin.scope, said.text, self._candidates)

    def _learned(
        self,
        experience: Experience,
        found: LearnedFacts,
        by_tools: Sequence[ToolFact],
        known: Candidates,
        written: StoreEpisodeRequest | None = None,
    ) -> Learned:
        if not experience.wants_facts:
            return Learned(episode=written)
        said = facts_of_model(
            experience.origin, found.facts, _source(experience, known), known, experience.said.text
        )
        facts = chain(said, islice(_of_tools(experience, by_tools, known), MAX_TOOL_FACTS))
        return Learned(tuple(limited(facts, self.max_statements, "extraction")), written)

    def _shown(self, experience: Experience, known: Candidates) -> str:
        """What the model reads. What was said comes first: it is what is cut last."""
        origin, task = experience.origin, experience.task
        lines = [
            f"Date: {origin.said_at:%A, %Y-%m-%d}",
            f"{origin.speaker} said:",
            experience.said.text,
        ]
        if known.facts:
            lines += ["", "Known already:", known.shown()]
        if experience.results:
            lines += ["", "What the assistant's tools found:"]
            lines += [
                f"[{result.number}] {result.step.action}: "
                f"{shorten(result.step.observation, _MAX_RESULT)}"
                for result in experience.results
            ]
        if task is not None:
            lines += ["", "The assistant's steps:"]
            lines += [f"- {in_one_line(step)}" for step in task.steps]
        if experience.answer:
            lines += ["", "The assistant answered:", experience.answer]
        return clip("\n".join(lines), self._prompt_tokens)


def _source(experience: Experience, known: Candidates) -> Source:
    """What the user's facts may be made of: what was said, not what assistant and tools say."""
    names = [experience.origin.speaker, experience.origin.scope.user]
    results = [result.step.observation for result in experience.results]
    return Source(
        experience.said.text,
        known="\n".join([*names, *(fact.content for fact in known.facts)]),
        others="\n".join([experience.answer, *results]),
    )


def _of_tools(
    experience: Experience, found: Sequence[ToolFact], known: Candidates
) -> Iterator[StoreFactRequest]:
    """Facts of results, each with its tool as the speaker; of a step that is not there, none."""
    results = {result.number: result for result in experience.results}
    for fact in found:
        if (result := results.get(fact.step)) is not None:
            asked = f"{experience.said.text}\n{json.dumps(result.step.arguments)}"
            source = Source(result.step.observation, known=asked)
            yield from facts_of_model(result.origin, [fact], source, known, result.step.observation)


def _episode(experience: Experience, task: Task, learned: LearnedEpisode) -> StoreEpisodeRequest:
    """The model's episode; how a run ended is not its to say where that is known."""
    known = task.result if task.is_known else None
    return episode_of_model(experience.origin, learned, task.ended_at, known)
