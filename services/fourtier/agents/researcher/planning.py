"""What is searched for: first the whole question, then names.

They are those that its best entries bring up, and those that facts mention together with these.
"""

from collections.abc import Sequence

from fourtier.agents.researcher.ranking import Ranked
from fourtier.agents.researcher.words import Question
from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.proper_names import name_key, proper_names
from fourtier.schema.facts import Fact
from fourtier.schema.researcher import PlannedSearch

#: Entries whose names are followed in a round, and names of each.
_FOLLOWED, _NAMES = 3, 4
#: Characters of a query.
_MAX_QUERY = 8_000
#: Names by which facts are asked for in a round.
_MENTIONED = 20


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


def mentioned_names(question: Question, ranked: Sequence[Ranked]) -> tuple[str, ...]:
    """The names in a question and in its best entries, each once."""
    texts = [question.text, *(each.candidate.entry.content for each in ranked[:_FOLLOWED])]
    found = {name_key(name): name for text in texts for name in proper_names(text)}
    return tuple(found.values())[:_MENTIONED]


def follow_facts(
    question: Question,
    known: Sequence[str],
    facts: Sequence[Fact],
    done: Sequence[PlannedSearch],
    limit: int,
) -> list[PlannedSearch]:
    """Follow the names that facts mention together with known ones.

    Args:
        question: what is asked for.
        known: names in the question and in its best entries; those are followed by themselves.
        facts: that mention one of them, the best first.
        done: searches that were made or are planned.
        limit: how many names at most.
    """
    seen = [question.terms, *(terms(name) for name in [*known, *(each.name for each in done)])]
    by_key = {name_key(name): name for name in known}
    planned: list[PlannedSearch] = []
    for fact in facts:
        names = proper_names(f"{fact.content}\n{fact.speaker}")
        together = next((by_key[key] for key in map(name_key, names) if key in by_key), "")
        lacking = " ".join(question.said(question.terms - terms(fact.content)))
        for name in names if together else ():
            stems = terms(name)
            if not stems or any(stems <= each for each in seen):
                continue
            seen.append(stems)
            planned.append(
                PlannedSearch(
                    query=f"{name} {lacking}".strip()[:_MAX_QUERY],
                    kind="name",
                    legs=("words",),
                    name=name,
                    fact_id=fact.id,
                    mentioned_with=together,
                )
            )
    return planned[:limit]
