"""A research: rounds of searches, notes and check, until what is found is enough."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.evidence import hand_over
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.roles import Plan, Roles
from fourtier.agents.researcher.words import Question
from fourtier.schema.archive import SearchArchiveResponse
from fourtier.schema.researcher import (
    PlannedSearch,
    Receipt,
    ResearchProgress,
    ResearchRequest,
    Stop,
)

#: Entries that a search may find: that for the question, one that follows a name, one by the model.
_TOP_K: Mapping[str, int] = {"question": 40, "name": 5, "model": 10}


class Search(Protocol):
    """Searches the archive of the research's scope."""

    async def __call__(self, planned: PlannedSearch, top_k: int) -> SearchArchiveResponse:
        """The entries, best first."""
        ...


class Research:
    """One research for one request: the same road by whichever method."""

    def __init__(
        self, request: ResearchRequest, search: Search, roles: Roles, budget: Budget
    ) -> None:
        self._request = request
        self._search = search
        self._roles = roles
        self._budget = budget
        self._findings = Findings(Question.of(request.question), request.max_evidence)

    async def steps(self) -> AsyncGenerator[ResearchProgress]:
        """The steps as they happen; the last one has the evidence."""
        findings, number = self._findings, 1
        plan = await self._roles.plan(findings)
        while True:
            yield ResearchProgress(
                step="plan",
                round=number,
                searches=tuple(plan.searches),
                info_needs=plan.info_needs,
            )
            answers = await asyncio.gather(*map(self._ask, plan.searches))
            if any(answer.opted_out for answer in answers):
                yield self._end(number, "nothing-new", opted_out=True)
                return
            new = findings.take(plan.searches, answers, number)
            found = sum(len(answer.hits) for answer in answers)
            yield ResearchProgress(step="hits", round=number, found=found, new=new)
            notes = findings.keep(await self._roles.integrate(findings))
            yield ResearchProgress(step="notes", round=number, notes=notes)
            enough = await self._roles.check(findings)
            yield self._checked(number, enough=enough)
            stopped = self._stop(number, enough=enough)
            if stopped is None:
                plan = Plan(await self._roles.follow_up(findings))
                stopped = None if plan.searches else "nothing-new"
            if stopped is not None:
                yield self._end(number, stopped)
                return
            number += 1

    async def _ask(self, planned: PlannedSearch) -> SearchArchiveResponse:
        return await self._search(planned, _TOP_K[planned.kind])

    def _checked(self, number: int, *, enough: bool) -> ResearchProgress:
        return ResearchProgress(
            step="check",
            round=number,
            covered=self._findings.covered(),
            missing=self._findings.missing(),
            enough=enough,
        )

    def _stop(self, number: int, *, enough: bool) -> Stop | None:
        """Why there is no further round, as far as that is known before it is planned."""
        reasons: Sequence[tuple[bool, Stop]] = (
            (enough, "enough"),
            (not self._findings.newest, "nothing-new"),
            (number == self._request.max_rounds, "max-rounds"),
            (self._budget.is_out_of_completions, "max-completions"),
            (self._budget.seconds_left < 0, "deadline"),
        )
        return next((stop for applies, stop in reasons if applies), None)

    def _end(self, number: int, stopped: Stop, *, opted_out: bool = False) -> ResearchProgress:
        handed = hand_over(self._findings, self._request.max_tokens)
        budget = self._budget
        receipt = Receipt(
            stopped=stopped,
            rounds=number,
            searches=len(self._findings.done),
            entries=len(self._findings.pool),
            tokens=handed.tokens,
            cut=handed.cut,
            milliseconds=round(budget.milliseconds, 1),
            method=budget.method,
            degraded=dict(budget.degraded),
            completions=budget.usage.completions,
            in_token=budget.usage.in_token,
            out_token=budget.usage.out_token,
        )
        return ResearchProgress(
            step="end", round=number, evidence=handed.evidence, receipt=receipt, opted_out=opted_out
        )
