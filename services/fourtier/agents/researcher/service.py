"""`researcher`: finds evidence for questions that take more than one search."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Self

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.checkpoint import Checkpoint
from fourtier.agents.researcher.checkpoint_store import CheckpointStore
from fourtier.agents.researcher.journal import Journal, Recovered
from fourtier.agents.researcher.overview import read_page
from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.recovering import recover, replay_end
from fourtier.agents.researcher.research import Research, Search
from fourtier.agents.researcher.role_choice import RoleChoice
from fourtier.agents.researcher.roles import Roles
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Service,
    ServiceContext,
    current_envelope,
    stream,
)
from fourtier.schema.archive import SEARCH_ARCHIVE, SearchArchiveRequest, SearchArchiveResponse
from fourtier.schema.researcher import (
    RESEARCH,
    PlannedSearch,
    ResearchProgress,
    ResearchRequest,
)

log = logging.getLogger(__name__)

#: A younger request was begun nowhere else; for an older one working memory is waited for longer,
#: in seconds: where both were killed it may be back a little later.
_FRESH, _RECOVERY_TIMEOUT = timedelta(seconds=3), 15.0


class ResearcherService(Service):
    """Searches the archive round by round; working memory has what it needs to go on."""

    name = "researcher"
    parameters = ResearcherParameters
    deployment = DeploymentProfile(
        backlog_per_replica=16,  # a replica works on so many researches at once
        drives=["completion"],
        starts_after=["embeddings", "archive", "working-memory"],
    )

    def __init__(
        self, caller: Caller, parameters: ResearcherParameters, choice: RoleChoice
    ) -> None:
        self._caller = caller
        self._choice = choice
        self.settings = parameters

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: ResearcherParameters
    ) -> AsyncGenerator[Self]:
        """Read the prompts."""
        choice = RoleChoice(context.caller, context.settings, parameters)
        yield cls(context.caller, parameters, choice)

    @stream(
        RESEARCH,
        max_concurrency=attrgetter("settings.max_concurrent_researches"),
        timeout=RESEARCH.deadline,
    )
    async def research(self, request: ResearchRequest) -> AsyncGenerator[ResearchProgress]:
        """Research a question, and say each step; go on where an earlier delivery has ended."""
        roles, budget = self._choice.of(request)
        if budget.method == "rule":
            steps = Research(request, self._search_for(request), roles, budget).steps()
        else:
            steps = self._stored_research(request, roles, budget)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def _stored_research(
        self, request: ResearchRequest, roles: Roles, budget: Budget
    ) -> AsyncGenerator[ResearchProgress]:
        received = current_envelope()
        store = CheckpointStore(
            self._caller,
            request,
            request.research_id or received.id,
            budget,
            self.settings.working_memory_seconds,
        )
        was_begun = received.is_retry or datetime.now(UTC) - received.sent_at > _FRESH
        stored = await store.load(_RECOVERY_TIMEOUT if was_begun else 0)
        if stored.checkpoint is not None and stored.checkpoint.end is not None:
            yield await replay_end(self._caller, request.scope, stored.checkpoint.end)
            return
        recovered = await self._take_up(request, stored.checkpoint, store, budget)
        journal = Journal(budget, recovered, None if stored.opted_out else store.keep)
        steps = Research(request, self._search_for(request), roles, budget, journal).steps()
        async with aclosing(steps):
            async for step in steps:
                if step.opted_out:
                    await store.drop()
                yield step

    async def _take_up(
        self,
        request: ResearchRequest,
        checkpoint: Checkpoint | None,
        store: CheckpointStore,
        budget: Budget,
    ) -> Recovered | None:
        """What the research can go on from; None where it begins, or begins anew."""
        if checkpoint is None:
            return None
        recovered = await recover(self._caller, request.scope, checkpoint)
        budget.take_up(checkpoint, resumed=recovered is not None)
        if recovered is None:
            log.info("A research begins anew: an entry that it had found is gone, or has changed.")
            await store.drop()
        else:
            await store.keep(checkpoint.model_copy(update={"resumed": budget.resumed}))
        return recovered

    def _search_for(self, request: ResearchRequest) -> Search:
        async def search(planned: PlannedSearch, top_k: int) -> SearchArchiveResponse:
            if planned.kind == "page":
                return await read_page(self._caller, request.scope, planned.page_id, top_k)
            return await self._caller.call(
                SEARCH_ARCHIVE,
                SearchArchiveRequest(
                    user=request.user,
                    collection=request.collection,
                    query=planned.query,
                    embedding=request.embedding if planned.kind == "question" else None,
                    legs=planned.legs,
                    top_k=top_k,
                ),
            )

        return search
