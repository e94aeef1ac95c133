"""Method `llm`: a model reads the conversation, in parts that fit its window, and what is known.

All questions are asked before anything is stored: a conversation whose reading fails half-way is
read again as a whole, and has left nothing behind.
"""

import asyncio
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, Field

from fourtier.memory.learning.candidates import Candidates, find_candidates
from fourtier.memory.learning.commands import episode_of_model, facts_of_model
from fourtier.memory.learning.grounding import Source
from fourtier.memory.learning.learned import Learned, limited
from fourtier.memory.learning.model_method import ModelMethod
from fourtier.memory.learning.model_output import LearnedEpisode, LearnedFact
from fourtier.memory.learning.origin import origin_of_invocation
from fourtier.memory.promotion.conversation import Conversation
from fourtier.memory.promotion.parts import Part, in_parts
from fourtier.models.text.prompts import Prompts
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import ConversationEnded, InvocationSummary
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

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
        candidates: how many known facts the model is shown beside each part.
    """

    def __init__(
        self,
        caller: Caller,
        max_facts: int,
        *,
        part_tokens: int,
        max_steps: int,
        candidates: int,
        prompts: Prompts,
    ) -> None:
        super().__init__(caller, "fourtier.memory.promotion", max_facts, prompts)
        self._candidates = candidates
        self._part_tokens = part_tokens
        self._max_steps = max_steps
        self._part_prompt = self.prompt("part")
        self._whole_prompt = self.prompt("whole")

    async def learn(self, experience: Conversation) -> Learned:
        """Find facts and the episode; where neither is wanted, nothing is asked."""
        if not (experience.wants_facts or experience.wants_episode):
            return Learned()
        event = experience.event
        facts: list[StoreFactRequest] = []
        drafts: list[LearnedEpisode] = []
        parts = await asyncio.to_thread(
            in_parts, experience.invocations, event.user, self._part_tokens, MAX_PARTS
        )
        for number, part in enumerate(parts, start=1):
            known = await find_candidates(self.caller, event.scope, part.said, self._candidates)
            title = f"Part {number} of {len(parts)} of the conversation"
            read = await self._read(known, part, title)
            facts += _facts(event, part, read.facts, known)
            drafts += [read.episode] if read.episode else []
        promoted = limited(facts, self.max_statements, "promotion")
        return Learned(tuple(promoted), await self._episode(experience, drafts))

    async def _read(self, known: Candidates, part: Part, title: str) -> ReadPart:
        material = f"Already known:\n{known.shown() or '(nothing)'}\n\n{title}:\n{part.text}"
        return await self.ask(self._part_prompt, material, ReadPart)

    async def _episode(
        self, experience: Conversation, drafts: Sequence[LearnedEpisode]
    ) -> StoreEpisodeRequest | None:
        """One episode for the whole; drafts of several parts are made into one by the model."""
        if not drafts or not experience.wants_episode:
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
    event: ConversationEnded, part: Part, found: Sequence[PromotedFact], known: Candidates
) -> Iterator[StoreFactRequest]:
    """Facts with the origin of the line that was quoted, or that the model names.

    What became clear over several lines is supported by all of them. A fact of a line of which no
    facts are wanted is none.
    """
    wanted = [each for each in part.invocations if each.extract_facts]
    source = Source(
        "\n".join(each.query for each in wanted),
        known="\n".join(
            [event.user, *(each.speaker for each in wanted), *(f.content for f in known.facts)]
        ),
        others="\n".join(f"{each.summary} {each.result}" for each in part.invocations),
    )
    for fact in found:
        invocation = part.lines.get(fact.line)
        if invocation is None or not Source(invocation.query).quoted(fact.quote):
            invocation = _quoted(wanted, fact) or invocation or part.invocations[-1]
        if invocation.extract_facts:
            origin = origin_of_invocation(event, invocation)
            yield from facts_of_model(origin, [fact], source, known, invocation.query)


def _quoted(
    invocations: Sequence[InvocationSummary], fact: PromotedFact
) -> InvocationSummary | None:
    """The last invocation that has the quote; a model may miscount lines."""
    return next((each for each in invocations[::-1] if Source(each.query).quoted(fact.quote)), None)
