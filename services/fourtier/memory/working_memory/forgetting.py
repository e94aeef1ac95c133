"""Deleting runs for good: their steps, and the answers that stay for repeated requests.

Of a run that has ended its id stays, until its answer would have expired: its request, if it is
delivered again, is answered with the words that it was forgotten, and uses no tool again. A run
that is under way keeps its steps until it ends, for without them it would use its tools again; then
they are dropped as those of every run are, and its answer is not stored.

The checkpoint of a research rests on entries of the archive, and may have their content. So all of
it is dropped whenever its scope forgets anything: where one was interrupted it begins anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text
from fourtier.memory.tombstones.selection import Selection
from fourtier.memory.working_memory.records import FORGOTTEN, RunKey
from fourtier.memory.working_memory.store import TraceStore
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import RESEARCH_STATE

_PAGE = 200


@dataclass(frozen=True, slots=True)
class ErasedRun:
    """A run that is selected."""

    id: str
    run_id: str
    answer: str
    has_ended: bool


class Forgetting:
    """Forgets runs of a scope."""

    def __init__(self, store: TraceStore, graph: GraphStore) -> None:
        self._writing = store.writing
        self._graph = graph
        self._queries = load_queries("fourtier.memory.working_memory", "forgetting.cypher")

    async def selected(
        self,
        scope: Scope,
        selection: Selection,
        until: datetime,  # noqa: ARG002 - a run under way is forgotten with what it has done so far
    ) -> list[ErasedRun]:
        """The runs that a selection names or fits."""
        found: list[ErasedRun] = []
        after = ""
        while rows := await self._graph.read(
            scope,
            self._queries["runs"],
            after=after,
            limit=_PAGE,
            forgotten=FORGOTTEN,
            research=RESEARCH_STATE,
        ):
            after = str(rows[-1]["id"])
            fitting = await self._fitting(scope, rows, selection)
            found += [
                ErasedRun(
                    str(row["id"]), str(row["run_id"]), str(row["answer"]), bool(row["ended"])
                )
                for row in rows
                if selection.everything or row["run_id"] in selection.ids or row["id"] in fitting
            ]
        return found

    async def _fitting(self, scope: Scope, runs: Sequence[Row], selection: Selection) -> set[str]:
        if not selection.containing:
            return set()
        items = await self._graph.read(
            scope, self._queries["texts"], runs=[str(row["id"]) for row in runs]
        )
        texts = [(str(row["id"]), f"{row['answer']}\n{row['condensed']}") for row in runs]
        texts += [(str(row["run"]), f"{row['content']}\n{row['metadata']}") for row in items]
        return {run for run, text in texts if selection.fits(text)}

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> list[ErasedRun]:
        """Forget what is selected, and all researches of the scope; returns the runs there were."""
        async with self._writing:
            runs = await self.selected(scope, selection, at)
            researches = await self._graph.read(
                scope, self._queries["researches"], forgotten=FORGOTTEN, research=RESEARCH_STATE
            )
            if runs or researches:
                now = as_text(datetime.now(UTC))
                rows: dict[bool, list[Row]] = {True: [], False: []}
                ended = [(run.id, run.has_ended) for run in runs]
                for run_id, has_ended in [*ended, *((str(row["id"]), True) for row in researches)]:
                    row: Row = {"id": run_id, "answer": FORGOTTEN, "touched_at": now}
                    rows[has_ended].append(row)
                await self._graph.write(
                    None,
                    *over(self._queries["delete_items"], "runs", rows[True]),
                    *over(self._queries["blank"], "runs", rows[True]),
                    *over(self._queries["mark"], "runs", rows[False]),
                )
        return runs

    async def forget_researches(self, user: str) -> None:
        """Delete a user's checkpoints of researches; what is added to them later is not stored."""
        nothing = Selection(
            ids=(), conversation_id="", invocation_ids=(), containing=(), everything=False
        )
        for scope in await self.scopes(user):
            await self.erase(scope, nothing, datetime.now(UTC))

    async def forget_run(self, key: RunKey) -> None:
        """Delete a run and its answer, where there is one."""
        async with self._writing:
            await self._delete([key.id])

    async def _delete(self, ids: Sequence[str]) -> None:
        gone = {"runs": [{"id": each} for each in ids]}
        await self._graph.write(
            None,
            Statement(self._queries["delete_items"], gone),
            Statement(self._queries["delete"], gone),
        )

    async def scopes(self, user: str) -> list[Scope]:
        """The scopes in which a user has runs."""
        prefix = Scope(user, "").key
        rows = await self._graph.read(None, self._queries["scopes"], prefix=prefix)
        return [Scope(user, str(row["scope"]).removeprefix(prefix)) for row in rows]
