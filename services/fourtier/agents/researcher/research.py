"""A research: rounds of searches, notes and check, until what is found is enough."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.evidence import hand_over
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.journal import Journal
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

#: Entries that a search may find: that for the question, one that follows a name, one by the model;
#: and that are read of a page.
_TOP_K: Mapping[str, int] = {"question": 40, "name": 5, "model": 10, "page": 60}


class Search(Protocol):
    """Searches the archive of the research's scope."""

    async def __call__(self, planned: PlannedSearch, top_k: int) -> SearchArchiveResponse:
        """The entries, best first."""
        ...


class Research:
    """One research for one request: the same road by whichever method."""

    def __init__(
        self,
        request: ResearchRequest,
        search: Search,
        roles: Roles,
        budget: Budget,
        journal: Journal | None = None,
    ) -> None:
        self._request = request
        self._search = search
        self._roles = roles
        self._budget = budget
        self._journal = journal or Journal(budget)
        self._findings = Findings(Question.of(request.question), request.max_evidence)

    async def steps(self) -> AsyncGenerator[ResearchProgress]:
        """The steps as they happen, but those that were delivered before; the last has evidence."""
        delivered = self._journal.delivered
        async with aclosing(self._all_steps()) as steps:
            async for step in steps:
                if delivered <= 0:
                    yield step
                delivered -= 1

    async def _all_steps(self) -> AsyncGenerator[ResearchProgress]:
        findings, journal, number = self._findings, self._journal, 1
        plan = await journal.plan(1, findings, lambda: self._roles.plan(findings))
        while True:
            yield ResearchProgress(
                step="plan",
                round=number,
                searches=tuple(plan.searches),
                info_needs=plan.info_needs,
            )
            answers = await journal.answers(number, partial(self._ask_all, plan.searches))
            if any(answer.opted_out for answer in answers):
                yield self._end(number, "nothing-new", opted_out=True)
                return
            new = findings.take(plan.searches, answers, number)
            found = sum(len(answer.hits) for answer in answers)
            yield ResearchProgress(step="hits", round=number, found=found, new=new)
            notes = findings.keep(
                await journal.notes(number, findings, lambda: self._roles.integrate(findings))
            )
            yield ResearchProgress(step="notes", round=number, notes=notes)
            enough = await journal.enough(number, lambda: self._roles.check(findings))
            yield self._checked(number, enough=enough)
            # What was planned before it was interrupted is not stopped by what it took since.
            goes_on = journal.has_planned(number + 1)
            stopped = None if goes_on else self._stop(number, enough=enough)
            if stopped is None:
                plan = await journal.plan(number + 1, findings, self._follow_up)
                stopped = None if plan.searches else "nothing-new"
            if stopped is not None:
                end = self._end(number, stopped)
                await journal.end(end, findings.notes)
                yield end
                return
            number += 1

    async def _follow_up(self) -> Plan:
        return Plan(await self._roles.follow_up(self._findings))

    async def _ask_all(self, planned: Sequence[PlannedSearch]) -> list[SearchArchiveResponse]:
        return await asyncio.gather(*(self._search(each, _TOP_K[each.kind]) for each in planned))

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
            resumed=budget.resumed,
        )
        return ResearchProgress(
            step="end", round=number, evidence=handed.evidence, receipt=receipt, opted_out=opted_out
        )
