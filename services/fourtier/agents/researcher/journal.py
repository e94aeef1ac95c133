"""What a research has done before it was interrupted, and what it does now.

Each role is asked for through the journal. It answers with what the role has answered before, or
asks it and keeps the answer before anything else happens: so no completion is made twice.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.checkpoint import Checkpoint, StoredEnd, StoredRound
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.planning import first_plan
from fourtier.agents.researcher.roles import Plan
from fourtier.schema.archive import ArchiveEntry, ArchiveHit, SearchArchiveResponse
from fourtier.schema.researcher import Note, ResearchProgress

#: Keeps a state of the research; it never fails.
Keep = Callable[[Checkpoint], Awaitable[None]]

#: The steps of a round are plan, hits, notes and check: how many, and where two of them stand.
_STEPS, _NOTES, _CHECK = 4, 2, 3


@dataclass(frozen=True, slots=True)
class Recovered:
    """An earlier state, and the entries that it rests on, by their ids."""

    checkpoint: Checkpoint
    entries: Mapping[str, ArchiveEntry]


class Journal:
    """Of one research.

    Args:
        budget: what the research has taken stands in the checkpoint, too.
        recovered: its checkpoint when it was interrupted; None where it begins.
        keep: None where no checkpoint is stored: by rule a research takes less time than it costs.
    """

    def __init__(
        self, budget: Budget, recovered: Recovered | None = None, keep: Keep | None = None
    ) -> None:
        self._budget = budget
        self._keep = keep
        self._entries = recovered.entries if recovered else {}
        self._rounds = list(recovered.checkpoint.rounds) if recovered else []
        self._answers: Sequence[SearchArchiveResponse] = ()

    @property
    def delivered(self) -> int:
        """How many steps its caller has got; the one that was kept last may not have got there."""
        if not self._rounds:
            return 0
        last, before = self._rounds[-1], _STEPS * (len(self._rounds) - 1)
        if last.enough is not None:
            return before + _CHECK
        return before + (0 if last.notes is None else _NOTES)

    async def plan(
        self, number: int, findings: Findings, make: Callable[[], Awaitable[Plan]]
    ) -> Plan:
        """What round `number` searches for."""
        if (known := self._round(number)) is not None:
            question = first_plan(findings.question)[0]
            searches = [question if each.kind == "question" else each for each in known.searches]
            return Plan(searches, known.info_needs)
        plan = await make()
        self._rounds.append(StoredRound.planned(plan))
        await self._save()
        return plan

    def has_planned(self, number: int) -> bool:
        """Whether round `number` was planned before."""
        return self._round(number) is not None

    async def answers(
        self, number: int, make: Callable[[], Awaitable[Sequence[SearchArchiveResponse]]]
    ) -> Sequence[SearchArchiveResponse]:
        """What the searches of a round find."""
        known = self._round(number)
        if known is None or known.notes is None:
            self._answers = await make()
            return self._answers
        return [
            SearchArchiveResponse(
                hits=tuple(
                    ArchiveHit(entry=self._entries[each.entry_id], score=each.score)
                    for each in hits
                )
            )
            for hits in known.hits
        ]

    async def notes(
        self, number: int, findings: Findings, make: Callable[[], Awaitable[tuple[Note, ...]]]
    ) -> tuple[Note, ...]:
        """All notes after a round."""
        known = self._rounds[number - 1]
        if known.notes is not None:
            findings.read = {each.entry_id for each in known.read}
            return tuple(each.to_note() for each in known.notes)
        notes = await make()
        self._rounds[number - 1] = known.noted(self._answers, sorted(findings.read), notes)
        await self._save()
        return notes

    async def enough(self, number: int, make: Callable[[], Awaitable[bool]]) -> bool:
        """Whether what is found after a round is enough."""
        known = self._rounds[number - 1]
        if known.enough is not None:
            return known.enough
        enough = await make()
        self._rounds[number - 1] = known.model_copy(update={"enough": enough})
        await self._save()
        return enough

    async def end(self, step: ResearchProgress, notes: Sequence[Note]) -> None:
        """Keep what is handed over, in the place of the rounds."""
        if step.receipt is not None:
            end = StoredEnd.of(step.round, step.evidence, notes, step.receipt)
            self._rounds = []
            await self._save(end)

    def _round(self, number: int) -> StoredRound | None:
        return self._rounds[number - 1] if number <= len(self._rounds) else None

    async def _save(self, end: StoredEnd | None = None) -> None:
        if self._keep is None:
            return
        budget = self._budget
        await self._keep(
            Checkpoint(
                rounds=tuple(self._rounds),
                end=end,
                completions=budget.usage.completions,
                in_token=budget.usage.in_token,
                out_token=budget.usage.out_token,
                degraded=dict(budget.degraded),
                milliseconds=budget.milliseconds,
                resumed=budget.resumed,
            )
        )
