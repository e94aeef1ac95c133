"""The roles by a language model: each is one completion, whose answer is checked.

What it answers is never taken on trust: searches are bounded and not repeated, notes rest on
entries that it was shown and say no number and no name that these lack, and without notes nothing
is enough.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TypeVar

from pydantic import BaseModel

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.findings import Findings
from fourtier.agents.researcher.grounding import is_grounded
from fourtier.agents.researcher.material import Material
from fourtier.agents.researcher.model_output import (
    WrittenCheck,
    WrittenNote,
    WrittenNotes,
    WrittenPlan,
    WrittenRequests,
)
from fourtier.agents.researcher.overview import OverviewReader
from fourtier.agents.researcher.planning import first_plan
from fourtier.agents.researcher.roles import Plan
from fourtier.models.text.quoting import in_one_line
from fourtier.models.text.structured import StructuredModel
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import LegName
from fourtier.schema.researcher import Note, PlannedSearch, Role

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

#: How often the model is asked until its answer has the form.
_ATTEMPTS = 2
#: Queries of one kind in a plan, and requests of a follow-up; characters of each.
_QUERIES, _MAX_QUERY = 5, 1_000
#: Pages that are read as a whole.
_PAGES = 5
#: Notes, and characters of each; a longer one is dropped.
_NOTES, _MAX_NOTE = 30, 1_000
_WORDS: tuple[LegName, ...] = ("words",)
_MEANING: tuple[LegName, ...] = ("meaning", "context")


class RolesByModel:
    """Asks the model on behalf of one research.

    Args:
        prompts: the instructions of each role.
        budget: counts the completions, and limits them.
        tokens: that the model is shown at a time, without the instructions and the memos.
        overview: of the archive, for the plan.
    """

    def __init__(
        self,
        caller: Caller,
        prompts: Mapping[Role, str],
        budget: Budget,
        tokens: int,
        overview: OverviewReader,
    ) -> None:
        self._model = StructuredModel(caller, _ATTEMPTS, budget.usage)
        self._prompts = prompts
        self._budget = budget
        self._material = Material(tokens)
        self._overview = overview

    async def plan(self, findings: Findings) -> Plan:
        """Search for the question, for keywords and for what is meant, and read pages."""
        memos = self._material.memos(await self._overview.read(findings.question.text))
        shown = [self._question(findings), *([memos] if memos else [])]
        written = await self._ask("plan", shown, WrittenPlan)
        first = first_plan(findings.question)
        keywords = _searches(written.keyword_collection, first, _WORDS)
        meant = _searches(written.vector_queries, [*first, *keywords], _MEANING)
        wanted = self._pages(written.page_index)
        return Plan([*first, *keywords, *meant, *wanted], tuple(_queries(written.info_needs)))

    async def integrate(self, findings: Findings) -> tuple[Note, ...]:
        """The notes anew, with what the newest entries say, as many as fit; else as they are."""
        if not findings.newest:
            return findings.notes
        self._material.name(findings.cited())
        beside = [self._question(findings), self._material.notes(findings.notes)]
        entries, shown = self._material.entries(findings.newest, "\n".join(beside))
        findings.read.update(each.entry.id for each in shown)
        written = await self._ask("integrate", [*beside, entries], WrittenNotes)
        retained = tuple(islice(self._checked(findings, written.notes), _NOTES))
        log.info("The model wrote %d notes, %d are kept.", len(written.notes), len(retained))
        return retained or findings.notes

    async def check(self, findings: Findings) -> bool:
        """What the model says of the notes; without notes, or new entries, it is not asked."""
        if not findings.notes or not findings.newest:
            return False
        shown = [self._question(findings), self._material.notes(findings.notes)]
        return (await self._ask("check", shown, WrittenCheck)).enough

    async def follow_up(self, findings: Findings) -> Sequence[PlannedSearch]:
        """Requests of the model that were not searched for before."""
        shown = [
            self._question(findings),
            self._material.notes(findings.notes),
            self._material.searches(findings.done),
        ]
        written = await self._ask("follow_up", shown, WrittenRequests)
        return _searches(written.new_requests, findings.done, ())

    def _pages(self, handles: Iterable[str]) -> list[PlannedSearch]:
        """The first of the pages whose memos were shown, each once."""
        named = [memo for each in handles if (memo := self._material.memo(each))]
        pages = {memo.page_id: memo for memo in named}
        return [
            PlannedSearch(
                query=f"page {memo.page_number} of {memo.source}", kind="page", page_id=page_id
            )
            for page_id, memo in islice(pages.items(), _PAGES)
        ]

    def _question(self, findings: Findings) -> str:
        return self._material.question(findings.question.text)

    async def _ask(self, role: Role, shown: Iterable[str], form: type[T]) -> T:
        return await self._model.ask(
            self._prompts[role],
            "\n\n".join(shown),
            form,
            attempts=min(_ATTEMPTS, self._budget.completions_left),
        )

    def _checked(self, findings: Findings, written: Iterable[WrittenNote]) -> Iterator[Note]:
        """The notes that rest on entries that were shown, and say nothing that these do not."""
        for note in written:
            content = in_one_line(note.content)
            sources = [self._material.candidate(handle) for handle in dict.fromkeys(note.sources)]
            known = [each for each in sources if each is not None]
            if not content or len(content) > _MAX_NOTE or not known or len(known) < len(sources):
                continue
            if is_grounded(content, known):
                covers = frozenset(chain.from_iterable(each.terms for each in known))
                yield Note(
                    entry_id=known[0].entry.id,
                    entry_ids=tuple(dict.fromkeys(each.entry.id for each in known)),
                    speaker=known[0].entry.speaker,
                    content=content,
                    covers=findings.question.said(covers),
                )


def _searches(
    written: Iterable[str], done: Iterable[PlannedSearch], legs: tuple[LegName, ...]
) -> list[PlannedSearch]:
    """The first of the queries, each once, without those that were done."""
    queries = _queries(written, without=(each.query for each in done))
    return [PlannedSearch(query=query, kind="model", legs=legs) for query in queries]


def _queries(written: Iterable[str], without: Iterable[str] = ()) -> list[str]:
    seen = {_same(query) for query in without} | {""}
    new: dict[str, str] = {}
    for query in written:
        if (same := _same(query)) not in seen:
            new.setdefault(same, in_one_line(query)[:_MAX_QUERY])
    return list(new.values())[:_QUERIES]


def _same(query: str) -> str:
    """Equal for queries that differ in nothing that is searched for."""
    return in_one_line(query).casefold().strip(" .?!\"'")
