"""Method `llm`: a model is asked, once for each run or turn."""

from fourtier.memory.extraction.learning import Learned, origin_of_run, origin_of_turn
from fourtier.memory.extraction.task import in_one_line, result_of
from fourtier.memory.statements.asking import ask
from fourtier.memory.statements.keeping import Origin, episode, facts_of_model
from fourtier.memory.statements.learned import LearnedEpisode, LearnedFacts, LearnedFromTask
from fourtier.memory.statements.text import clip
from fourtier.models.text.prompts import read_prompt
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import StoreEpisodeRequest

_PACKAGE = "fourtier.memory.extraction"


class ModelMethod:
    """Learns from what a model makes of it. Its answer has a schema; another one is an error.

    `prompt_tokens` is how much of what happened the model is shown.
    """

    def __init__(self, caller: Caller, prompt_tokens: int) -> None:
        self._caller = caller
        self._prompt_tokens = prompt_tokens
        self._facts = read_prompt(_PACKAGE, "facts")
        self._task = f"{self._facts}\n\n{read_prompt(_PACKAGE, 'task')}"

    async def from_run(
        self, event: InvocationEnded, *, facts: bool, task: tuple[AgentStep, ...]
    ) -> Learned:
        """Facts and, of a task, the episode, in one completion; none where nothing is wanted."""
        if not facts and not task:
            return Learned()
        origin = origin_of_run(event)
        shown = self._shown(origin, event.question, task, event.answer)
        if not task:
            found = await ask(self._caller, self._facts, shown, LearnedFacts)
            return Learned(facts=tuple(facts_of_model(origin, found.facts, event.question)))
        learned = await ask(self._caller, self._task, shown, LearnedFromTask)
        kept = facts_of_model(origin, learned.facts, event.question) if facts else ()
        return Learned(
            facts=tuple(kept),
            episode=_episode(event, task, learned.episode) if learned.episode else None,
        )

    async def from_turn(self, turn: DialogueTurn) -> Learned:
        """Facts of what was said."""
        origin = origin_of_turn(turn)
        shown = self._shown(origin, turn.content, (), "")
        found = await ask(self._caller, self._facts, shown, LearnedFacts)
        return Learned(facts=tuple(facts_of_model(origin, found.facts, turn.content)))

    def _shown(self, origin: Origin, said: str, task: tuple[AgentStep, ...], answer: str) -> str:
        """What the model reads. What was said comes first: it is what is cut last."""
        lines = [
            f"Date: {origin.said_at:%A, %Y-%m-%d}",
            f"{origin.speaker} said:",
            said,
        ]
        if task:
            lines += ["", "The assistant's steps:", *(f"- {in_one_line(step)}" for step in task)]
        if answer:
            lines += ["", "The assistant answered:", answer]
        return clip("\n".join(lines), self._prompt_tokens)


def _episode(
    event: InvocationEnded, task: tuple[AgentStep, ...], learned: LearnedEpisode
) -> StoreEpisodeRequest:
    """The model's episode; that a run failed is known without it."""
    return episode(
        origin_of_run(event),
        ended_at=event.ended_at,
        goal=learned.goal,
        steps=learned.steps,
        outcome=learned.outcome,
        lessons=learned.lessons,
        result=learned.result if event.succeeded else result_of(event, task),
    )
