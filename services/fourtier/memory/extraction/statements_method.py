"""Method `statements`: what was stated, and the steps of a task as they were. No model."""

from collections.abc import Iterator
from itertools import islice

from fourtier.memory.extraction.experience import Experience
from fourtier.memory.extraction.task import in_one_line, lessons_of
from fourtier.memory.extraction.tool_results import MAX_TOOL_FACTS, stated_by_tools
from fourtier.memory.learning.commands import episode
from fourtier.memory.learning.statements_method import StatementsMethod, Utterance
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest


class ExtractionByRule(StatementsMethod[Experience]):
    """Learns by rule. What the agent answered is never taken for something that the user said."""

    def utterances(self, experience: Experience) -> Iterator[Utterance]:
        """What was said, if facts are wanted."""
        if experience.wants_facts:
            yield experience.said

    def others(self, experience: Experience) -> Iterator[StoreFactRequest]:
        """What tools have stated."""
        return islice(stated_by_tools(experience.results), MAX_TOOL_FACTS)

    def episode(self, experience: Experience) -> StoreEpisodeRequest | None:
        """The task as it went."""
        if (task := experience.task) is None:
            return None
        return episode(
            experience.origin,
            ended_at=task.ended_at,
            goal=experience.said.text,
            steps=[in_one_line(step) for step in task.steps],
            outcome=experience.answer,
            lessons=lessons_of(task.steps),
            result=task.result,
        )
