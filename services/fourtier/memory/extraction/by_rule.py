"""Method `statements`: what was stated, and the steps of a task as they were. No model."""

from fourtier.memory.extraction.learning import Learned, origin_of_run, origin_of_turn
from fourtier.memory.extraction.task import in_one_line, lessons_of, result_of
from fourtier.memory.statements.keeping import episode, fact_of_statement
from fourtier.memory.statements.stated import statements_in_dialogue, statements_to_agent
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.episodes import StoreEpisodeRequest


class StatementsMethod:
    """Learns by rule. What the agent answered is never taken for something that the user said."""

    async def from_run(
        self, event: InvocationEnded, *, facts: bool, task: tuple[AgentStep, ...]
    ) -> Learned:
        """The user's statements, and the task."""
        origin = origin_of_run(event)
        stated = statements_to_agent(event.question) if facts else []
        return Learned(
            facts=tuple(fact_of_statement(origin, each) for each in stated),
            episode=_episode(event, task) if task else None,
        )

    async def from_turn(self, turn: DialogueTurn) -> Learned:
        """The speaker's statements."""
        origin = origin_of_turn(turn)
        stated = statements_in_dialogue(turn.content)
        return Learned(facts=tuple(fact_of_statement(origin, each) for each in stated))


def _episode(event: InvocationEnded, task: tuple[AgentStep, ...]) -> StoreEpisodeRequest:
    return episode(
        origin_of_run(event),
        ended_at=event.ended_at,
        goal=event.question,
        steps=[in_one_line(step) for step in task],
        outcome=event.answer,
        lessons=lessons_of(task),
        result=result_of(event, task),
    )
