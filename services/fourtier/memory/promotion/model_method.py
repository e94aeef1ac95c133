"""Method `llm`: a model reads the conversation, in parts that fit its window, and what is known.

All questions are asked before anything is stored: a conversation whose reading fails half-way is
read again as a whole, and has left nothing behind.
"""

import asyncio
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, Field

from fourtier.memory.learning.commands import episode_of_model, facts_of_model
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.model_method import ModelMethod
from fourtier.memory.learning.model_output import LearnedEpisode, LearnedFact
from fourtier.memory.learning.origin import origin_of_invocation
from fourtier.memory.promotion.conversation import MIN_INVOCATIONS, Conversation
from fourtier.memory.promotion.parts import Part, in_parts
from fourtier.memory.statements.text import shorten
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import ConversationEnded
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import RETRIEVE_FACTS, RetrieveFactsRequest, StoreFactRequest

#: How many known facts a part is compared with, and by how much of its text they are found.
_KNOWN, _QUERY_CHARACTERS = 20, 1_000
#: Parts that are read of one conversation, which bounds what it costs.
MAX_PARTS = 20


class PromotedFact(LearnedFact):
    """A fact with the line in which it was said."""

    line: int = Field(description="the number in brackets of the line that it comes from")


class ReadPart(BaseModel):
    """What a model finds in a conversation, or in a part of a long one."""

    facts: list[PromotedFact]
    episode: LearnedEpisode | None


class ReadWhole(BaseModel):
    """The episode of a conversation that was read in parts."""

    episode: LearnedEpisode | None


class PromotionByModel(ModelMethod):
    """Promotes what a model finds.

    Args:
        max_facts: how many facts a conversation may give.
        part_tokens: how much of a conversation one completion reads.
        max_steps: bounds how long an episode gets.
    """

    def __init__(self, caller: Caller, max_facts: int, part_tokens: int, max_steps: int) -> None:
        super().__init__(caller, "fourtier.memory.promotion", max_facts)
        self._part_tokens = part_tokens
        self._max_steps = max_steps
        self._part_prompt = self.prompt("part")
        self._whole_prompt = self.prompt("whole")

    async def learn(self, experience: Conversation) -> Learned:
        """Find facts and the episode."""
        event = experience.event
        facts: list[StoreFactRequest] = []
        drafts: list[LearnedEpisode] = []
        parts = await asyncio.to_thread(
            in_parts, experience.invocations, event.user, self._part_tokens, MAX_PARTS
        )
        for number, part in enumerate(parts, start=1):
            read = await self._read(event, part, f"Part {number} of {len(parts)}")
            facts += _facts(event, part, read.facts)
            drafts += [read.episode] if read.episode else []
        promoted = limited(facts, self.max_statements, "promotion")
        return Learned(tuple(promoted), await self._episode(experience, drafts))

    async def _read(self, event: ConversationEnded, part: Part, title: str) -> ReadPart:
        known = await self.caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                user=event.user,
                collection=event.collection,
                query=shorten(part.text, _QUERY_CHARACTERS),
                top_k=_KNOWN,
            ),
        )
        lines = "\n".join(f"- {fact.speaker}: {fact.content}" for fact in known.facts)
        material = f"Already known:\n{lines or '(nothing)'}\n\n{title} of the conversation:\n"
        return await self.ask(self._part_prompt, f"{material}{part.text}", ReadPart)

    async def _episode(
        self, experience: Conversation, drafts: Sequence[LearnedEpisode]
    ) -> StoreEpisodeRequest | None:
        """One episode for the whole; drafts of several parts are made into one by the model."""
        if not drafts or len(experience.invocations) < MIN_INVOCATIONS:
            return None
        whole: LearnedEpisode | None = drafts[0]
        if len(drafts) > 1:
            shown = "\n\n".join(draft.model_dump_json(indent=1) for draft in drafts)
            whole = (await self.ask(self._whole_prompt, shown, ReadWhole)).episode
        if whole is None:
            return None
        whole = whole.model_copy(update={"steps": whole.steps[: self._max_steps]})
        return episode_of_model(experience.origin, whole, experience.invocations[-1].timestamp)


def _facts(
    event: ConversationEnded, part: Part, found: Sequence[PromotedFact]
) -> Iterator[StoreFactRequest]:
    """Facts with the origin of the line that the model names; of the last one if there is none."""
    for fact in found:
        invocation = part.lines.get(fact.line, part.invocations[-1])
        yield from facts_of_model(origin_of_invocation(event, invocation), [fact], invocation.query)
