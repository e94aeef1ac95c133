"""`researcher`: finds evidence for questions that take more than one search."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from operator import attrgetter
from typing import Self

from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.research import Research
from fourtier.agents.researcher.role_choice import RoleChoice
from fourtier.runtime.service import Caller, DeploymentProfile, Service, ServiceContext, stream
from fourtier.schema.archive import SEARCH_ARCHIVE, SearchArchiveRequest, SearchArchiveResponse
from fourtier.schema.researcher import (
    RESEARCH,
    PlannedSearch,
    ResearchProgress,
    ResearchRequest,
)


class ResearcherService(Service):
    """Searches the archive round by round; it stores nothing."""

    name = "researcher"
    parameters = ResearcherParameters
    deployment = DeploymentProfile(starts_after=["embeddings", "archive"])

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
        """Research a question, and say each step."""

        async def search(planned: PlannedSearch, top_k: int) -> SearchArchiveResponse:
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

        roles, budget = self._choice.of(request)
        steps = Research(request, search, roles, budget).steps()
        async with aclosing(steps):
            async for step in steps:
                yield step
