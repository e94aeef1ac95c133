"""What a research hands over: the best entries, as many as fit, and why each is there."""

from dataclasses import dataclass

from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.ranking import Ranked
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.researcher import Evidence


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Evidence, best first, its tokens, and how many entries were left out for their sake."""

    evidence: tuple[Evidence, ...]
    tokens: int
    cut: int


def hand_over(findings: Findings, max_tokens: int) -> HandedOver:
    """The best entries; what does not fit is left out whole."""
    best = findings.best()
    taken: list[Evidence] = []
    tokens = 0
    for each in best:
        cost = count_tokens(each.candidate.entry.content)
        if tokens + cost <= max_tokens:
            tokens += cost
            taken.append(_evidence(findings, each))
    return HandedOver(tuple(taken), tokens, len(best) - len(taken))


def _evidence(findings: Findings, ranked: Ranked) -> Evidence:
    candidate = ranked.candidate
    return Evidence(
        entry=candidate.entry,
        score=round(ranked.score, 4),
        round=candidate.round,
        covers=findings.question.said(ranked.adds),
        linked_to=ranked.link.to,
        link=ranked.link.name,
        fact_id=ranked.link.fact_id,
        notes=_notes(findings, candidate.entry.id),
    )


def _notes(findings: Findings, entry_id: str) -> tuple[str, ...]:
    return tuple(
        note.content for note in findings.notes if note.content and entry_id in note.entry_ids
    )
