"""The traces of all runs, in the graph.

A batch may hold runs of several scopes, so its statements find nodes by their id alone; the id is
made from the scope (see `RunKey`), which makes it the stricter of the two.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime

from fourtier.engines.graph.queries import load_queries, over
from fourtier.engines.timestamps import as_text
from fourtier.memory.retention.opt_outs import opt_outs_of
from fourtier.memory.working_memory.compression import Condensed
from fourtier.memory.working_memory.records import FORGOTTEN, RunKey, RunRecord, to_item
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation
from fourtier.schema.working_memory import RESEARCH_STATE

OPT_OUTS = opt_outs_of("Run")
SCHEMA = GraphSchema(
    nodes=[
        OPT_OUTS,
        Node(
            "Run",
            dict.fromkeys(
                ("id", "scope", "run_id", "condensed", "answer", "question_id", "touched_at"),
                "STRING",
            )
            | dict.fromkeys(("ended", "discarded"), "BOOL")
            | {"condensed_through": "INT64"},
            indexed=("touched_at",),
        ),
        Node(
            "RunItem",
            dict.fromkeys(
                ("id", "scope", "item_id", "type", "content", "written_at", "metadata"), "STRING"
            )
            | {"step": "INT64"},
        ),
    ],
    relations=[Relation("TOOK", "Run", "RunItem")],
)

#: How many expired runs are deleted in one transaction.
_MAX_EXPIRED = 100


class TraceStore:
    """Reads and writes runs.

    Attributes:
        writing: held while a run is read in order to write it.
    """

    def __init__(self, graph: GraphStore) -> None:
        self.writing = asyncio.Lock()
        self._graph = graph
        self._queries = load_queries("fourtier.memory.working_memory")

    async def load(self, keys: Iterable[RunKey]) -> dict[RunKey, RunRecord]:
        """Read runs with their items; one that is not known is empty."""
        runs = {key.id: RunRecord(key) for key in keys}
        # First the runs: who finds them as they were when writing knows that of the items, too.
        states = await self._graph.read(None, self._queries["runs"], ids=list(runs))
        known = [str(row["id"]) for row in states]
        items = await self._graph.read(None, self._queries["items"], ids=known) if known else []
        for row in items:
            item = to_item(row)
            runs[str(row["run"])].items[item.id] = item
        for row in states:
            run = runs[str(row["id"])]
            run.read_at = str(row["touched_at"])
            run.condensed = Condensed(str(row["condensed"]), int(row["condensed_through"]))
            run.answer = str(row["answer"]) if row["ended"] else None
            run.question_id = str(row["question_id"])
            run.forgotten = row["answer"] == FORGOTTEN
            run.discarded = bool(row["discarded"])
            run.known = frozenset(run.items)
        return {run.key: run for run in runs.values()}

    async def save(self, runs: Iterable[RunRecord]) -> None:
        """Write what has changed in runs, all in one transaction; nothing where nothing has.

        Raises:
            ConflictError: another replica has written to one of them since it was read.
        """
        changed = sorted(
            (run for run in runs if run.changed or run.state_changed), key=lambda run: run.key.id
        )
        if not changed:
            return
        now = as_text(datetime.now(UTC))
        items = [(run, item) for run in changed for item in run.changed.values()]
        new_runs = [run.to_row(now) for run in changed if not run.is_known]
        known_runs = [run.to_row(now) for run in changed if run.is_known]
        new_items = [run.item_row(item) for run, item in items if not run.knows(item)]
        known_items = [run.item_row(item) for run, item in items if run.knows(item)]
        if len(new_runs) == 1 and new_items and not known_runs:
            begun = {"runs": new_runs, "items": new_items}
            await self._graph.write(None, Statement(self._queries["begin"], begun))
            return
        await self._graph.write(
            None,
            *over(self._queries["create"], "runs", new_runs),
            *over(self._queries["set"], "runs", known_runs, all_there=True),
            *over(self._queries["add_items"], "items", new_items),
            *over(self._queries["replace_items"], "items", known_items),
        )

    async def discard(self, run: RunRecord) -> int:
        """Delete a run's items, and the run too unless it has an answer; how many items.

        Raises:
            ConflictError: as `save`.
        """
        if not run.is_known or run.discarded:
            return 0
        dropped = len(run.items)
        run.discard()
        now = as_text(datetime.now(UTC))
        row = run.to_row(now)
        touched = Statement(self._queries["set"], {"runs": [row]}, rows=1)
        items = Statement(self._queries["delete_items"], {"runs": [row]})
        itself = Statement(self._queries["delete"], {"runs": [row]})
        await self._graph.write(None, touched, items, *([itself] if run.answer is None else []))
        return dropped

    async def improve(self, key: RunKey, condensed: Condensed) -> None:
        """Replace a text by a better one that stands for the same steps."""
        improved: Row = {
            "id": key.id,
            "run_id": key.run_id,
            "condensed": condensed.text,
            "condensed_through": condensed.through,
            "touched_at": as_text(datetime.now(UTC)),
        }
        async with self.writing:
            await self._graph.write(key.scope, Statement(self._queries["improve"], improved))

    async def number(self) -> int:
        """How many runs of agents there are in all."""
        rows = await self._graph.read(None, self._queries["number"], research=RESEARCH_STATE)
        return int(rows[0]["number"])

    async def expire(self, answers_before: datetime, traces_before: datetime) -> int:
        """Delete answers and traces that nobody will ask for any more; how many runs."""
        deleted = 0
        while rows := await self._graph.read(
            None,
            self._queries["expired"],
            answers_before=as_text(answers_before),
            traces_before=as_text(traces_before),
            research=RESEARCH_STATE,
            limit=_MAX_EXPIRED,
        ):
            runs = {"runs": rows}
            await self._graph.write(
                None,
                Statement(self._queries["hold"], runs),
                Statement(self._queries["delete_items"], runs),
                Statement(self._queries["delete"], runs),
            )
            deleted += len(rows)
        return deleted
