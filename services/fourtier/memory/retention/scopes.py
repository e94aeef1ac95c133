"""Going through the scopes of a store, whatever their number."""

from collections.abc import AsyncIterator
from typing import Any

from fourtier.runtime.service.stores.graph import GraphStore, Row

#: Scopes that are read at a time.
_AT_ONCE = 200


async def rows_by_scope(graph: GraphStore, text: str, **parameters: Any) -> AsyncIterator[Row]:
    """The rows of a query with one for each scope, read some at a time.

    Args:
        graph: the store.
        text: a query that returns rows in the order of their `scope`, `$limit` of those behind
            `$after`.
        parameters: others that it has.
    """
    after = ""
    while rows := await graph.read(None, text, after=after, limit=_AT_ONCE, **parameters):
        for row in rows:
            yield row
        after = str(rows[-1]["scope"])
