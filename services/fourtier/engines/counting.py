"""How much is in a service's stores, in all scopes together."""

from collections.abc import Mapping, Sequence

from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.service.stores.schemas import Collection
from fourtier.runtime.service.stores.vectors import VectorStore
from fourtier.schema.status import StoreCount


async def count_nodes(graph: GraphStore, kinds: Mapping[str, str]) -> Sequence[StoreCount]:
    """Nodes by their labels, each under a name for people.

    Neo4j knows the numbers, LadybugDB reads a column of keys.
    """
    return [
        StoreCount(store="graph", kind=name, number=await _number(graph, label))
        for label, name in kinds.items()
    ]


async def _number(graph: GraphStore, label: str) -> int:
    rows = await graph.read(None, f"MATCH (n:{label}) RETURN count(n) AS number")
    return int(rows[0]["number"])


async def count_points(vectors: VectorStore, collection: Collection) -> StoreCount:
    """Points of a collection."""
    return StoreCount(store="vectors", kind=collection.name, number=await vectors.count())
