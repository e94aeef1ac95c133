"""The two usual searches of a vector store."""

from fourtier.runtime.service.stores.query import DenseLeg, Equals, SparseLeg
from fourtier.runtime.service.stores.vectors import Hit, VectorStore
from fourtier.schema.message import Scope, Vector


async def search(
    store: VectorStore, scope: Scope, vector: Vector, text: str, limit: int, **where: str
) -> list[Hit]:
    """By meaning and by words, what matches the named fields."""
    conditions = [Equals(field, value) for field, value in where.items()]
    return await store.query(scope, [DenseLeg(vector), SparseLeg(text)], limit, conditions)


async def similar(
    store: VectorStore, scope: Scope, vector: Vector, limit: int, **where: str
) -> list[Hit]:
    """By meaning alone."""
    conditions = [Equals(field, value) for field, value in where.items()]
    return await store.query(scope, [DenseLeg(vector)], limit, conditions)
