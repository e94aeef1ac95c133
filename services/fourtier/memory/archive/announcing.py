"""Telling that pages are closed and have no memo, so that somebody makes one.

Publish, then mark: the event is out, with the broker's receipt, before its page is marked as
announced. After a crash between the two, or while the broker cannot be reached, the next sweep
finds the page and publishes again, with the same message id, as two replicas do that sweep at once.
What changes meanwhile what the page says gives it another revision; then the mark does not hold,
and the page is announced once more.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import cast

from fourtier.engines.graph.queries import load_queries, over
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.service.stores.graph import GraphStore, Row
from fourtier.schema.archive import PAGE_CLOSED, PageClosed, Reason
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

#: Pages that a sweep publishes before it marks them.
_MAX_UNMARKED = 50


class Announcing:
    """Publishes `page.closed`."""

    def __init__(self, graph: GraphStore, caller: Caller) -> None:
        self._graph = graph
        self._caller = caller
        self._queries = load_queries("fourtier.memory.archive", "memos.cypher")

    async def announce(self, pages: Iterable[str]) -> None:
        """Tell of those of some pages that are closed and were not told of.

        Where the broker cannot be reached the sweep does so: what was asked for is stored already.
        """
        ids = sorted(set(pages))
        if not ids:
            return
        rows = await self._graph.read(None, self._queries["unannounced_of"], ids=ids)
        try:
            await self._publish(rows)
        except BusError as error:
            log.warning("%d closed pages are announced later: %s", len(rows), error)

    async def sweep(self) -> None:
        """Tell of all that were not told of."""
        while rows := await self._graph.read(
            None, self._queries["unannounced"], limit=_MAX_UNMARKED
        ):
            await self._publish(rows)
            if len(rows) < _MAX_UNMARKED:
                return

    async def _publish(self, rows: Sequence[Row]) -> None:
        for row in rows:
            page_id, revision = str(row["id"]), str(row["revision"])
            scope = Scope.of_key(str(row["scope"]))
            event = PageClosed(
                user=scope.user,
                collection=scope.collection,
                page_id=page_id,
                reason=cast("Reason", revision.partition("/")[0] or "closed"),
            )
            message_id = f"page-closed/{page_id}/{revision}"
            await self._caller.publish(PAGE_CLOSED, event, message_id=message_id)
        marks: list[Row] = [{"id": row["id"], "revision": row["revision"]} for row in rows]
        await self._graph.write(None, *over(self._queries["set_announced"], "pages", marks))
