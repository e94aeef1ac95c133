"""Making the whole index from the graph."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from fourtier.facts.graph import FactGraph
from fourtier.facts.index import FactIndex
from fourtier.schema.message import Scope

#: Facts in one batch: a second or so of the bundled model's time, in which nothing else is written.
_BATCH = 128


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did.

    Attributes:
        facts: how many are in the index now.
        strays: how many points were removed because the graph has no such fact.
    """

    facts: int
    strays: int


async def rebuild(
    graph: FactGraph,
    index: FactIndex,
    writing: asyncio.Lock,
    tell: Callable[[int], None] | None = None,
) -> Rebuilt:
    """Write the points of all facts, then remove those that are of none.

    Each batch is read and written under the lock, so that it is never older than what a writer
    has put there.
    """
    scopes: set[Scope] = set()
    done, after = 0, ""
    while True:
        async with writing:
            batch = await graph.everything(after, _BATCH)
            await index.write(await index.points(batch))
        if not batch:
            break
        scopes |= {each.scope for each in batch}
        after = batch[-1].fact.id
        done += len(batch)
        if tell is not None:
            tell(done)
    return Rebuilt(
        done, sum([await _remove_strays(graph, index, writing, each) for each in scopes])
    )


async def _remove_strays(
    graph: FactGraph, index: FactIndex, writing: asyncio.Lock, scope: Scope
) -> int:
    """A scope that has no fact left has no points either: a forget is repeated until it is done."""
    removed, after = 0, None
    while ids := await index.ids(scope, _BATCH, after):
        async with writing:
            known = await graph.by_ids(dict.fromkeys(ids, scope))
            removed += await index.delete(scope, [each for each in ids if each not in known])
        after = ids[-1]
    return removed
