"""Stores the checkpoint of a research in working memory, where another replica finds it.

Only a research in which a model takes part has one: one by rule is made anew in less time than it
takes to write down a round.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import ValidationError

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.checkpoint import Checkpoint
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.repeating import ask_until_answered
from fourtier.schema.researcher import ResearchRequest
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    DISCARD_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    RESEARCH_STATE,
    AppendWorkingMemoryRequest,
    DiscardWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    GetWorkingMemoryResponse,
    WorkingMemoryItem,
)

log = logging.getLogger(__name__)

#: In `degraded` of the receipt, where a checkpoint could not be stored.
_DEGRADED = "working-memory"
#: Longer ids of a message are replaced by their hash.
_MAX_ID = 400
#: Of the question, in the name of the checkpoint: another one with the same id is another research.
_DIGITS = 16
#: One item holds all, so nothing is ever condensed.
_NO_CONDENSING = 1_000_000
#: Seconds between two attempts to read the checkpoint.
_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Stored:
    """What working memory has of a research; None if that is nothing, or nobody could read it."""

    checkpoint: Checkpoint | None = None
    opted_out: bool = False


class CheckpointStore:
    """Keeps one research. It never fails: without working memory the research goes on as it is.

    Args:
        research_id: of the research.
        budget: its `degraded` names working memory where that fails.
        seconds: that working memory is waited for at each step.
    """

    def __init__(
        self,
        caller: Caller,
        request: ResearchRequest,
        research_id: str,
        budget: Budget,
        seconds: float,
    ) -> None:
        self._caller = caller
        self._request = request
        self._run_id = _run_id(request, research_id)
        self._budget = budget
        self._seconds = seconds
        self._number = 0

    async def load(self, within: float) -> Stored:
        """What an earlier delivery of the request has done.

        Args:
            within: seconds in which working memory may be there again.
        """
        try:
            async with asyncio.timeout(max(within, self._seconds)):
                found = await self._read()
        except (TimeoutError, FourtierError) as error:
            self._give_up(error)
            return Stored()
        if found.opted_out:
            await self.drop()
            return Stored(opted_out=True)
        for item in found.trace.items:
            try:
                checkpoint = Checkpoint.model_validate_json(json.dumps(item.metadata))
            except ValidationError as error:
                log.warning("The checkpoint of a research cannot be read: %s", error)
            else:
                self._number = item.step + 1
                return Stored(checkpoint)
        return Stored()

    async def keep(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint; returns when it is on disk, or cannot be there."""
        if self._has_given_up:
            return
        try:
            item = WorkingMemoryItem(
                id=f"{self._run_id}/state",
                step=self._number,
                type="observation" if checkpoint.end is None else "answer",
                content=self._request.question,
                timestamp=datetime.now(UTC),
                metadata=json.loads(checkpoint.model_dump_json()),
            )
            request = AppendWorkingMemoryRequest(
                run_id=self._run_id,
                user=self._request.user,
                collection=self._request.collection,
                items=(item,),
                threshold=_NO_CONDENSING,
            )
            async with asyncio.timeout(self._seconds):
                await self._caller.call(APPEND_WORKING_MEMORY, request)
        except ValidationError:
            self._give_up(FourtierError("the checkpoint has grown too large"))
        except (TimeoutError, FourtierError) as error:
            self._give_up(error)
        self._number += 1

    async def drop(self) -> None:
        """Delete the checkpoint."""
        if self._has_given_up:
            return
        request = DiscardWorkingMemoryRequest(
            run_id=self._run_id, user=self._request.user, collection=self._request.collection
        )
        try:
            async with asyncio.timeout(self._seconds):
                await self._caller.call(DISCARD_WORKING_MEMORY, request)
        except (TimeoutError, FourtierError) as error:
            self._give_up(error)
        self._number = 0

    async def _read(self) -> GetWorkingMemoryResponse:
        """Read, again and again until there is an answer."""
        question = GetWorkingMemoryRequest(
            run_id=self._run_id,
            user=self._request.user,
            collection=self._request.collection,
            full=True,
        )
        call = replace(GET_WORKING_MEMORY, deadline=self._seconds)
        return await ask_until_answered(self._caller, call, question, pause=_PAUSE)

    @property
    def _has_given_up(self) -> bool:
        return _DEGRADED in self._budget.degraded

    def _give_up(self, error: Exception) -> None:
        """Go on without it, and say so."""
        reason = f"no answer within {self._seconds:g} seconds"
        if not isinstance(error, TimeoutError):
            reason = str(error)
        self._budget.degraded[_DEGRADED] = reason
        log.warning("A research goes on without working memory: %s", reason)


def _run_id(request: ResearchRequest, research_id: str) -> str:
    named = research_id if len(research_id) <= _MAX_ID else _digest([research_id])
    asked = (
        request.question,
        request.max_rounds,
        request.max_evidence,
        request.max_tokens,
        request.method,
    )
    return f"{RESEARCH_STATE}{named}/{_digest(asked)[:_DIGITS]}"


def _digest(parts: Iterable[str | int | None]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
