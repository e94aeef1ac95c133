"""The roles by rule: the question as it is, its words, and the names in its best entries."""

import re
from collections.abc import Sequence

from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.planning import first_plan, follow_names
from fourtier.agents.researcher.roles import Plan
from fourtier.agents.researcher.words import Question
from fourtier.engines.vectors.sparse import terms
from fourtier.schema.researcher import Note, PlannedSearch

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class RolesByRule:
    """Asks no model."""

    async def plan(self, findings: Findings) -> Plan:
        """Search for the question."""
        return Plan(first_plan(findings.question))

    async def integrate(self, findings: Findings) -> tuple[Note, ...]:
        """Of each new entry in the ranking the sentence with most of the question's words."""
        new = {each.entry.id for each in findings.newest}
        findings.read |= new
        ranked = [each.candidate for each in findings.ranked]
        made = [
            Note(
                entry_id=each.entry.id,
                entry_ids=(each.entry.id,),
                speaker=each.entry.speaker,
                quote=_quote(each.entry.content, findings.question),
                covers=findings.question.said(each.terms),
            )
            for each in ranked
            if each.entry.id in new
        ]
        return (*findings.notes, *made)

    async def check(self, findings: Findings) -> bool:
        """Whether the first entries have all words of the question."""
        return not findings.missing()

    async def follow_up(self, findings: Findings) -> Sequence[PlannedSearch]:
        """Follow the names in the best entries."""
        return follow_names(findings.question, findings.ranked, findings.done)


def _quote(text: str, question: Question) -> str:
    """The sentence with most of the question's words, the first of equals."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    return max(sentences, key=lambda each: len(terms(each) & question.terms), default="")
