"""Method `llm`: a model is asked, once for each run or turn."""

from fourtier.memory.extraction.experience import Experience, Task
from fourtier.memory.extraction.task import in_one_line
from fourtier.memory.learning.commands import episode_of_model, facts_of_model
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.model_method import ModelMethod
from fourtier.memory.learning.model_output import LearnedEpisode, LearnedFacts, LearnedFromTask
from fourtier.memory.statements.text import clip
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.episodes import StoreEpisodeRequest


class ExtractionByModel(ModelMethod):
    """Learns from what a model makes of it.

    `prompt_tokens` is how much of what happened the model is shown.
    """

    def __init__(self, caller: Caller, max_statements: int, prompt_tokens: int) -> None:
        super().__init__(caller, "fourtier.memory.extraction", max_statements)
        self._prompt_tokens = prompt_tokens
        self._facts = self.prompt("facts")
        self._task = f"{self._facts}\n\n{self.prompt('task')}"

    async def learn(self, experience: Experience) -> Learned:
        """Facts and, of a task, the episode, in one completion; none where nothing is wanted."""
        task = experience.task
        if not experience.wants_facts and task is None:
            return Learned()
        shown = self._shown(experience)
        if task is None:
            found = await self.ask(self._facts, shown, LearnedFacts)
            return self._learned(experience, found)
        learned = await self.ask(self._task, shown, LearnedFromTask)
        written = _episode(experience, task, learned.episode) if learned.episode else None
        return self._learned(experience, learned, written)

    def _learned(
        self,
        experience: Experience,
        found: LearnedFacts,
        written: StoreEpisodeRequest | None = None,
    ) -> Learned:
        if not experience.wants_facts:
            return Learned(episode=written)
        facts = facts_of_model(experience.origin, found.facts, experience.said.text)
        return Learned(tuple(limited(facts, self.max_statements, "extraction")), written)

    def _shown(self, experience: Experience) -> str:
        """What the model reads. What was said comes first: it is what is cut last."""
        origin, task = experience.origin, experience.task
        lines = [
            f"Date: {origin.said_at:%A, %Y-%m-%d}",
            f"{origin.speaker} said:",
            experience.said.text,
        ]
        if task is not None:
            lines += ["", "The assistant's steps:"]
            lines += [f"- {in_one_line(step)}" for step in task.steps]
        if experience.answer:
            lines += ["", "The assistant answered:", experience.answer]
        return clip("\n".join(lines), self._prompt_tokens)


def _episode(experience: Experience, task: Task, learned: LearnedEpisode) -> StoreEpisodeRequest:
    """The model's episode; that a run failed is known without it."""
    known = None if task.succeeded else task.result
    return episode_of_model(experience.origin, learned, task.ended_at, known)
