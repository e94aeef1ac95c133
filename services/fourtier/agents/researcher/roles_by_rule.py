"""The roles by rule: the question as it is, its words, and names.

The names are those in its best entries, and those that facts mention together with them.
"""

import re
from collections.abc import Sequence

from fourtier.agents.researcher.facts import Mentioning
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.planning import (
    first_plan,
    follow_facts,
    follow_names,
    mentioned_names,
)
from fourtier.agents.researcher.roles import Plan
from fourtier.agents.researcher.words import Question
from fourtier.engines.vectors.sparse import terms
from fourtier.schema.researcher import Note, PlannedSearch

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class RolesByRule:
    """Asks no model.

    Args:
        mentioning: reads facts by the names that they mention; None where none are followed.
        names: of facts that are followed in a round.
    """

    def __init__(self, mentioning: Mentioning | None = None, names: int = 4) -> None:
        self._mentioning = mentioning
        self._names = names

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
        """Follow the names in the best entries, and those that facts mention with known ones."""
        question, ranked = findings.question, findings.ranked
        planned = follow_names(question, ranked, findings.done)
        known = mentioned_names(question, ranked)
        if self._mentioning is None or not known:
            return planned
        facts = await self._mentioning(known)
        done = [*findings.done, *planned]
        return [*planned, *follow_facts(question, known, facts, done, self._names)]


def _quote(text: str, question: Question) -> str:
    """The sentence with most of the question's words, the first of equals."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    return max(sentences, key=lambda each: len(terms(each) & question.terms), default="")
