"""The roles of a research: what happens between its searches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fourtier.agents.researcher.findings import Findings
from fourtier.schema.researcher import Note, PlannedSearch


@dataclass(frozen=True, slots=True)
class Plan:
    """What is searched for first. `info_needs` are the questions within the question."""

    searches: Sequence[PlannedSearch]
    info_needs: tuple[str, ...] = ()


class Roles(Protocol):
    """Plans, takes notes, checks and follows up: by rule, or by asking a model."""

    async def plan(self, findings: Findings) -> Plan:
        """The first searches; that for the question itself is always among them."""
        ...

    async def integrate(self, findings: Findings) -> tuple[Note, ...]:
        """All notes, those made of the newest entries with them."""
        ...

    async def check(self, findings: Findings) -> bool:
        """Whether what is found is enough to answer the question."""
        ...

    async def follow_up(self, findings: Findings) -> Sequence[PlannedSearch]:
        """Searches for what is missing; none of those that were done."""
        ...
