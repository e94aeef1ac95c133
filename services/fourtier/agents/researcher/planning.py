"""What is searched for: first the whole question, then the names that its best entries bring up."""

from collections.abc import Sequence

from fourtier.agents.researcher.ranking import Ranked
from fourtier.agents.researcher.words import Question
from fourtier.schema.researcher import PlannedSearch

#: Entries whose names are followed in a round, and names of each.
_FOLLOWED, _NAMES = 3, 4
#: Characters of a query.
_MAX_QUERY = 8_000


def first_plan(question: Question) -> list[PlannedSearch]:
    """Search for the question as it is."""
    return [PlannedSearch(query=question.text[:_MAX_QUERY])]


def follow_names(
    question: Question, ranked: Sequence[Ranked], done: Sequence[PlannedSearch]
) -> list[PlannedSearch]:
    """Follow the names in the best entries that the question does not have.

    Each is searched for together with those words of the question that its entry lacks: what the
    question asks of that name. What was searched for before is left out.
    """
    queries = {search.query for search in done}
    planned: list[PlannedSearch] = []
    for each in ranked[:_FOLLOWED]:
        candidate = each.candidate
        lacking = " ".join(question.said(question.terms - candidate.terms))
        new = [name for name in candidate.names if not name.terms <= question.terms]
        for name in new[:_NAMES]:
            query = f"{name.text} {lacking}".strip()[:_MAX_QUERY]
            if query not in queries:
                queries.add(query)
                planned.append(
                    PlannedSearch(
                        query=query,
                        kind="name",
                        legs=("words",),
                        name=name.text,
                        entry_id=candidate.entry.id,
                    )
                )
    return planned
