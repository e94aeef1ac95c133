"""Roles that ask a model, each of them by rule where the model fails it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.roles import Plan, Roles
from fourtier.models.text.quoting import in_one_line
from fourtier.runtime.errors import FourtierError
from fourtier.schema.researcher import Note, PlannedSearch, Role

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_REASON = 500


class RolesWithFallback:
    """Asks the model, and goes by rule in a role for which the model gives nothing usable.

    A role that went by rule once does so until the research ends, so that an endpoint that is down
    is waited for once in each role; the others still ask. The budget says which and why.

    Args:
        seconds: that a model is waited for in one role.
    """

    def __init__(self, model: Roles, rules: Roles, budget: Budget, seconds: float) -> None:
        self._model = model
        self._rules = rules
        self._budget = budget
        self._seconds = seconds

    async def plan(self, findings: Findings) -> Plan:
        """By the model, or by rule."""
        return await self._either("plan", self._model.plan, self._rules.plan, findings)

    async def integrate(self, findings: Findings) -> tuple[Note, ...]:
        """By the model, or by rule."""
        return await self._either(
            "integrate", self._model.integrate, self._rules.integrate, findings
        )

    async def check(self, findings: Findings) -> bool:
        """By the model, or by rule."""
        return await self._either("check", self._model.check, self._rules.check, findings)

    async def follow_up(self, findings: Findings) -> Sequence[PlannedSearch]:
        """By the model; by rule also where it has nothing new to search for."""
        planned = await self._either(
            "follow_up", self._model.follow_up, self._rules.follow_up, findings
        )
        return planned or await self._rules.follow_up(findings)

    async def _either(
        self,
        role: Role,
        model: Callable[[Findings], Awaitable[T]],
        rules: Callable[[Findings], Awaitable[T]],
        findings: Findings,
    ) -> T:
        reason = self._not_to_be_asked(role)
        if not reason:
            seconds = min(self._seconds, self._budget.seconds_left)
            try:
                async with asyncio.timeout(seconds):
                    return await model(findings)
            except TimeoutError:
                reason = f"no answer within {seconds:.3g} seconds"
            except FourtierError as error:
                reason = in_one_line(str(error))[:_MAX_REASON]
        if role not in self._budget.degraded:
            log.warning("The research goes by rule in its role %s: %s", role, reason)
            self._budget.degraded[role] = reason
        return await rules(findings)

    def _not_to_be_asked(self, role: Role) -> str:
        """Why the model is not asked; empty if it is."""
        if role in self._budget.degraded:
            return self._budget.degraded[role]
        if self._budget.seconds_left <= 0:
            return "the time was over"
        if self._budget.is_out_of_completions:
            return f"the model was asked {self._budget.max_completions} times"
        return ""
