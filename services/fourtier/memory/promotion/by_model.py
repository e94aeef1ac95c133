"""Method `llm`: a model reads the conversation, in parts that fit its window, and what is known.

All questions are asked before anything is kept: a conversation whose reading fails half-way is
read again as a whole, and has left nothing behind.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from fourtier.memory.promotion.parts import Part, in_parts
from fourtier.memory.promotion.promoting import LEAST_INVOCATIONS, Promoted
from fourtier.memory.promotion.record import origin_of, origin_of_whole
from fourtier.memory.statements.asking import ask
from fourtier.memory.statements.keeping import episode, facts_of_model
from fourtier.memory.statements.learned import LearnedEpisode, LearnedFact
from fourtier.memory.statements.text import shorten
from fourtier.models.text.prompts import read_prompt
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import ConversationEnded, InvocationSummary
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import RETRIEVE_FACTS, RetrieveFactsRequest, StoreFactRequest

_PACKAGE = "fourtier.memory.promotion"
#: How many known facts a part is compared with, and by how much of its text they are found.
_KNOWN, _ASKED_BY = 20, 1_000


class PromotedFact(LearnedFact):
    """A fact with the place where it was said."""

    line: int = Field(description="the number in brackets of the line that it comes from")


class ReadPart(BaseModel):
    """What a model finds in a conversation, or in a part of a long one."""

    facts: list[PromotedFact]
    episode: LearnedEpisode | None


class ReadWhole(BaseModel):
    """The episode of a conversation that was read in parts."""

    episode: LearnedEpisode | None


class ModelMethod:
    """Promotes what a model finds.

    Args:
        part_tokens: how much of a conversation one completion reads.
        most_steps: bounds how long an episode gets.
    """

    def __init__(self, caller: Caller, part_tokens: int, most_steps: int) -> None:
        self._caller = caller
        self._part_tokens = part_tokens
        self._most_steps = most_steps
        self._part_prompt = read_prompt(_PACKAGE, "part")
        self._whole_prompt = read_prompt(_PACKAGE, "whole")

    async def promote(
        self, event: ConversationEnded, invocations: Sequence[InvocationSummary]
    ) -> Promoted:
        """Find facts and the episode."""
        facts: list[StoreFactRequest] = []
        drafts: list[LearnedEpisode] = []
        parts = in_parts(invocations, event.user, self._part_tokens)
        for number, part in enumerate(parts, start=1):
            read = await self._read(event, part, f"Part {number} of {len(parts)}")
            facts += _facts(event, part, read.facts)
            drafts += [read.episode] if read.episode else []
        return Promoted(tuple(facts), await self._episode(event, invocations, drafts))

    async def _read(self, event: ConversationEnded, part: Part, title: str) -> ReadPart:
        known = await self._caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                user=event.user,
                collection=event.collection,
                query=shorten(part.text, _ASKED_BY),
                top_k=_KNOWN,
            ),
        )
        lines = "\n".join(f"- {fact.speaker}: {fact.content}" for fact in known.facts)
        material = f"Already known:\n{lines or '(nothing)'}\n\n{title} of the conversation:\n"
        return await ask(self._caller, self._part_prompt, f"{material}{part.text}", ReadPart)

    async def _episode(
        self,
        event: ConversationEnded,
        invocations: Sequence[InvocationSummary],
        drafts: Sequence[LearnedEpisode],
    ) -> StoreEpisodeRequest | None:
        """One episode for the whole; drafts of several parts are made into one by the model."""
        if not drafts or len(invocations) < LEAST_INVOCATIONS:
            return None
        whole: LearnedEpisode | None = drafts[0]
        if len(drafts) > 1:
            shown = "\n\n".join(draft.model_dump_json(indent=1) for draft in drafts)
            whole = (await ask(self._caller, self._whole_prompt, shown, ReadWhole)).episode
        if whole is None:
            return None
        return episode(
            origin_of_whole(event, invocations),
            ended_at=invocations[-1].timestamp,
            goal=whole.goal,
            steps=whole.steps[: self._most_steps],
            outcome=whole.outcome,
            lessons=whole.lessons,
            result=whole.result,
        )


def _facts(
    event: ConversationEnded, part: Part, found: Sequence[PromotedFact]
) -> list[StoreFactRequest]:
    """Facts with the origin of the line that the model names; of the last one if there is none."""
    facts: list[StoreFactRequest] = []
    for fact in found:
        invocation = part.lines.get(fact.line, part.invocations[-1])
        facts += facts_of_model(origin_of(event, invocation), [fact], invocation.query)
    return facts
