"""`facts`: store, retrieve, get, list and forget statements that are kept for good."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Self

from fourtier.engines.config import engine_place
from fourtier.engines.opening import open_graph, open_vectors
from fourtier.engines.stores import Stores
from fourtier.memory.facts.graph import SCHEMA, Owned
from fourtier.memory.facts.index import COLLECTION
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.store import FactStore, Stored
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.rpc.routes import Route, answer, answer_together
from fourtier.runtime.service.context import Parameters, Surroundings
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
from fourtier.schema.status import Kept

_MOMENT = timedelta(microseconds=1)


class FactsParameters(Parameters):
    """None yet: what a flow sets for facts is in its engines."""


class FactsService:
    """Owns the facts of all scopes."""

    parameters: ClassVar[type[FactsParameters]] = FactsParameters
    stores: ClassVar[Stores] = Stores(SCHEMA, [COLLECTION])

    def __init__(self, store: FactStore) -> None:
        self._store = store

    @classmethod
    @asynccontextmanager
    async def open(
        cls, surroundings: Surroundings, _parameters: FactsParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and the vectors."""
        place = engine_place(surroundings)
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(open_graph(place, SCHEMA))
            vectors = await stack.enter_async_context(open_vectors(place, COLLECTION))
            yield cls(FactStore(graph, vectors, embed_by(surroundings.caller)))

    def routes(self) -> Iterator[Route]:
        """What it handles."""
        yield answer_together(STORE_FACT, self.store)
        yield answer(RETRIEVE_FACTS, self.retrieve)
        yield answer(GET_FACT, self.get)
        yield answer(LIST_FACTS, self.list)
        yield answer(FORGET_FACT, self.forget)
        yield answer(FORGET_FACTS, self.forget_scope)
        yield answer(REINDEX_FACTS, self.reindex, side_by_side=1)

    async def kept(self) -> Sequence[Kept]:
        """How many facts there are in all, and how many of them can be found."""
        facts, points = await self._store.numbers()
        return [
            Kept(store="graph", kind="facts", number=facts),
            Kept(store="vectors", kind="facts", number=points),
        ]

    async def store(self, requests: Sequence[StoreFactRequest]) -> list[StoreFactResponse]:
        """Write what has arrived together: one embedding call, one transaction."""
        now = datetime.now(UTC)
        stated = [
            # What says no time was said in the order in which it came.
            Owned(request.scope, FactRecord.from_request(request, now + place * _MOMENT))
            for place, request in enumerate(requests)
        ]
        return [_stored(each) for each in await self._store.store(stated)]

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

    async def get(self, request: GetFactRequest) -> GetFactResponse:
        """Read one fact."""
        fact = await self._store.get(request.scope, request.fact_id)
        return GetFactResponse(fact=fact.to_fact() if fact else None)

    async def list(self, request: ListFactsRequest) -> ListFactsResponse:
        """Read a page of facts."""
        facts, total = await self._store.page(
            request.scope, request.limit, request.offset, superseded=request.include_superseded
        )
        return ListFactsResponse(facts=tuple(fact.to_fact() for fact in facts), total=total)

    async def forget(self, request: ForgetFactRequest) -> ForgetFactResponse:
        """Delete one fact."""
        return ForgetFactResponse(
            forgotten=await self._store.forget(request.scope, request.fact_id)
        )

    async def forget_scope(self, request: ForgetFactsRequest) -> ForgetFactsResponse:
        """Delete all facts of a scope."""
        return ForgetFactsResponse(forgotten=await self._store.forget_scope(request.scope))

    async def reindex(self, request: ReindexFactsRequest) -> ReindexFactsResponse:
        """Make a part of the index from the graph."""
        done = await self._store.rebuild(request.cursor)
        facts, points = await self._store.numbers()
        return ReindexFactsResponse(
            cursor=done.cursor,
            indexed=done.written,
            removed=done.strays,
            facts=facts,
            points=points,
        )


def _stored(stored: Stored) -> StoreFactResponse:
    return StoreFactResponse(
        fact_id=stored.id, created=stored.created, superseded=stored.superseded
    )
