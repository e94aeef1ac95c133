"""`facts`: store, retrieve, get, list and forget statements that are stored for good."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from fourtier.engines.config import engine_config
from fourtier.engines.opening import open_graph, open_vectors
from fourtier.memory.facts.graph import SCHEMA, ScopedFact
from fourtier.memory.facts.index import COLLECTION
from fourtier.memory.facts.records import FactRecord
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.service import (
    Parameters,
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
)
from fourtier.schema.facts import (
    FORGET_FACT,
    FORGET_FACTS,
    GET_FACT,
    LIST_FACTS,
    REINDEX_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    ForgetFactRequest,
    ForgetFactResponse,
    ForgetFactsRequest,
    ForgetFactsResponse,
    GetFactRequest,
    GetFactResponse,
    ListFactsRequest,
    ListFactsResponse,
    ReindexFactsRequest,
    ReindexFactsResponse,
    RetrieveFactsRequest,
    RetrieveFactsResponse,
    StoreFactRequest,
    StoreFactResponse,
)
from fourtier.schema.status import StoreCount

if TYPE_CHECKING:
    from fourtier.memory.facts.store import FactStore, Stored

_TICK = timedelta(microseconds=1)


class FactsParameters(Parameters):
    """None yet: what a flow sets for facts is in its engines."""


class FactsService(Service):
    """Owns the facts of all scopes."""

    name = "facts"
    parameters = FactsParameters
    stores = Stores(SCHEMA, [COLLECTION])

    def __init__(self, store: "FactStore") -> None:
        self._store = store

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        context: ServiceContext,
        parameters: FactsParameters,  # noqa: ARG003 - there are none yet
    ) -> AsyncGenerator[Self]:
        """Open the graph and the vectors."""
        # The words that facts are compared by need the package of an engine.
        from fourtier.memory.facts.store import FactStore  # noqa: PLC0415

        engines = engine_config(context)
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(open_graph(engines, SCHEMA))
            vectors = await stack.enter_async_context(open_vectors(engines, COLLECTION))
            yield cls(FactStore(graph, vectors, embed_by(context.caller)))

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many facts there are in all, and how many of them can be found."""
        facts, points = await self._store.numbers()
        return [
            StoreCount(store="graph", kind="facts", number=facts),
            StoreCount(store="vectors", kind="facts", number=points),
        ]

    @answer_batch(STORE_FACT)
    async def store(self, requests: Sequence[StoreFactRequest]) -> list[StoreFactResponse]:
        """Write a batch of what has arrived: one embedding call, one transaction."""
        now = datetime.now(UTC)
        stated = [
            # What is without a time was said in the order in which it arrived.
            ScopedFact(request.scope, FactRecord.from_request(request, now + index * _TICK))
            for index, request in enumerate(requests)
        ]
        return [_stored(each) for each in await self._store.store(stated)]

    @answer(RETRIEVE_FACTS)
    async def retrieve(self, request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        """Search by meaning and by words."""
        found = await self._store.search(
            request.scope,
            request.query,
            request.embedding,
            request.top_k,
            superseded=request.include_superseded,
        )
        return RetrieveFactsResponse(facts=tuple(fact.to_fact(score) for fact, score in found))

    @answer(GET_FACT)
    async def get(self, request: GetFactRequest) -> GetFactResponse:
        """Read one fact."""
        fact = await self._store.get(request.scope, request.fact_id)
        return GetFactResponse(fact=fact.to_fact() if fact else None)

    @answer(LIST_FACTS)
    async def list(self, request: ListFactsRequest) -> ListFactsResponse:
        """Read a page of facts."""
        facts, total = await self._store.page(
            request.scope, request.limit, request.offset, superseded=request.include_superseded
        )
        return ListFactsResponse(facts=tuple(fact.to_fact() for fact in facts), total=total)

    @answer(FORGET_FACT)
    async def forget(self, request: ForgetFactRequest) -> ForgetFactResponse:
        """Delete one fact."""
        return ForgetFactResponse(
            forgotten=await self._store.forget(request.scope, request.fact_id)
        )

    @answer(FORGET_FACTS)
    async def forget_scope(self, request: ForgetFactsRequest) -> ForgetFactsResponse:
        """Delete all facts of a scope."""
        return ForgetFactsResponse(forgotten=await self._store.forget_scope(request.scope))

    @answer(REINDEX_FACTS, max_concurrency=1)
    async def reindex(self, request: ReindexFactsRequest) -> ReindexFactsResponse:
        """Make a part of the index from the graph."""
        done = await self._store.reindex(request.cursor)
        facts, points = await self._store.numbers()
        return ReindexFactsResponse(
            cursor=done.cursor,
            indexed=done.written,
            removed=done.strays,
            facts=facts,
            points=points,
        )


def _stored(stored: "Stored") -> StoreFactResponse:
    return StoreFactResponse(
        fact_id=stored.id, created=stored.created, superseded=stored.superseded
    )
