"""`facts`: store, retrieve, get, list and forget statements that are stored for good."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Self

from fourtier.engines.timestamps import as_text
from fourtier.memory.facts.detector import Detector
from fourtier.memory.facts.graph import OPT_OUTS, SCHEMA, ScopedFact
from fourtier.memory.facts.index import COLLECTION
from fourtier.memory.facts.parameters import FactsParameters
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.opting_out import change_opt_out
from fourtier.memory.retention.policy import Retention
from fourtier.memory.tombstones.selection import answer_erase
from fourtier.models.contradictions.client import contradict_by
from fourtier.models.embeddings.client import embed_by
from fourtier.runtime.privacy.kinds import Kind
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    current_envelope,
    current_envelopes,
    periodic,
)
from fourtier.schema.erasure import ERASE_FACTS, Erased, EraseRequest, EraseResponse
from fourtier.schema.facts import (
    GET_FACT,
    LIST_FACTS,
    LIST_NAMES,
    REINDEX_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    GetFactRequest,
    GetFactResponse,
    ListFactsRequest,
    ListFactsResponse,
    ListNamesRequest,
    ListNamesResponse,
    MentionedName,
    ReindexFactsRequest,
    ReindexFactsResponse,
    RetrieveFactsRequest,
    RetrieveFactsResponse,
    StoreFactRequest,
    StoreFactResponse,
)
from fourtier.schema.message import MAX_OFFSET
from fourtier.schema.opt_out import OPT_OUT_FACTS, OptOutRequest, OptOutResponse
from fourtier.schema.status import StoreCount

if TYPE_CHECKING:
    from fourtier.memory.facts.comparisons import Comparisons
    from fourtier.memory.facts.retention import FactMemories, RetainedFacts
    from fourtier.memory.facts.store import FactStore, Stored


class FactsService(Service):
    """Owns the facts of all scopes."""

    name = "facts"
    parameters = FactsParameters
    stores = Stores(SCHEMA, [COLLECTION])

    def __init__(
        self,
        store: "FactStore",
        facts: "RetainedFacts | FactStore",
        memories: "FactMemories",
        *,
        privacy: Privacy,
        opt_outs: OptOuts,
        comparisons: "Comparisons",
        about_similarity: float,
    ) -> None:
        self._comparisons = comparisons
        self._store = store
        self._facts = facts
        self._memories = memories
        self._opt_outs = opt_outs
        self._about_similarity = about_similarity
        self._privacy = privacy

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        context: ServiceContext,
        parameters: FactsParameters,
    ) -> AsyncGenerator[Self]:
        """Open the graph and the vectors."""
        # The words that facts are compared by need the package of an engine.
        from fourtier.memory.facts.comparisons import comparisons  # noqa: PLC0415
        from fourtier.memory.facts.retention import FactMemories, RetainedFacts  # noqa: PLC0415
        from fourtier.memory.facts.store import FactStore  # noqa: PLC0415

        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(context.open_graph(SCHEMA))
            vectors = await stack.enter_async_context(context.open_vectors(COLLECTION))
            opt_outs = OptOuts(graph, OPT_OUTS, context.privacy.policy.opted_out_users)
            detector = Detector(
                contradict_by(context.caller),
                parameters.contradiction_similarity,
                parameters.contradiction_probability,
            )
            detects = detector if parameters.detect_contradictions else None
            store = FactStore(graph, vectors, embed_by(context.caller), opt_outs, detects)
            await store.completeness.check()
            memories = FactMemories(graph, store, parameters.when_full)
            evicts = parameters.when_full != "reject"
            retention = Retention("fact", memories, parameters, evicts=evicts)
            await stack.enter_async_context(
                periodic("The sweep of facts", parameters.sweep_seconds, retention.sweep)
            )
            compared = await stack.enter_async_context(comparisons(store))
            await stack.enter_async_context(
                periodic(
                    "The search for facts that wait for a comparison",
                    parameters.sweep_seconds,
                    compared.find_waiting,
                )
            )
            facts = RetainedFacts(store, memories, retention) if retention.is_limited else store
            yield cls(
                store,
                facts,
                memories,
                privacy=context.privacy,
                opt_outs=opt_outs,
                comparisons=compared,
                about_similarity=parameters.about_similarity,
            )

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many facts there are in all, and how many of them can be found."""
        facts, points = await self._store.numbers()
        return [
            StoreCount(store="graph", kind="facts", number=facts),
            StoreCount(store="vectors", kind="facts", number=points),
        ]

    @answer_batch(STORE_FACT)
    async def store(self, requests: Sequence[StoreFactRequest]) -> list[StoreFactResponse]:
        """Write a batch of what has arrived: one embedding call, one transaction.

        New facts are compared with similar ones afterwards, beside the writes of others.

        Raises:
            PersonalDataError: one of them has personal data that the flow rejects.
            QuotaExceededError: the scope of one is full, and the flow evicts nothing.
        """
        cleaned = [await self._privacy.clean(request) for request in requests]
        for each in cleaned:
            self._privacy.require_allowed(each.message, each.counts)
        stated = [
            ScopedFact(
                each.message.scope,
                FactRecord.from_request(each.message, received.sent_at),
                as_text(each.message.learned_at) if each.message.learned_at else "",
            )
            for each, received in zip(cleaned, current_envelopes(), strict=True)
        ]
        stored = await self._facts.store(stated)
        self._comparisons.add(
            {
                done.id: each.scope
                for each, done in zip(stated, stored, strict=True)
                if done.created and self._store.wants_comparison(each)
            }
        )
        return [_stored(each, clean.counts) for each, clean in zip(stored, cleaned, strict=True)]

    @answer(RETRIEVE_FACTS)
    async def retrieve(self, request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        """Search by meaning and by words."""
        if await self._opt_outs.is_out(request.user):
            return RetrieveFactsResponse(facts=(), opted_out=True)
        if request.only_about:
            about = await self._store.about(
                request.scope,
                request.query,
                request.top_k,
                min_similarity=self._about_similarity,
                mentions=request.mentions,
            )
            return RetrieveFactsResponse(facts=tuple(fact.to_fact(score) for fact, score in about))
        found = await self._facts.search(
            request.scope,
            request.query,
            request.embedding,
            request.top_k,
            superseded=request.include_superseded,
            mentions=request.mentions,
        )
        return RetrieveFactsResponse(facts=tuple(fact.to_fact(score) for fact, score in found))

    @answer(GET_FACT)
    async def get(self, request: GetFactRequest) -> GetFactResponse:
        """Read one fact."""
        fact = await self._facts.get(request.scope, request.fact_id)
        return GetFactResponse(fact=fact.to_fact() if fact else None)

    @answer(LIST_FACTS)
    async def list(self, request: ListFactsRequest) -> ListFactsResponse:
        """Read a page of facts."""
        facts, total = await self._facts.page(
            request.scope, request.limit, request.offset, superseded=request.include_superseded
        )
        return ListFactsResponse(facts=tuple(fact.to_fact() for fact in facts), total=total)

    @answer(LIST_NAMES)
    async def names(self, request: ListNamesRequest) -> ListNamesResponse:
        """Read which names the facts mention, or mention together with one."""
        if await self._opt_outs.is_out(request.user):
            return ListNamesResponse(names=(), total=0, opted_out=True)
        found = await self._facts.names(request.scope, MAX_OFFSET, request.with_name)
        page = found[request.offset :][: request.limit]
        return ListNamesResponse(
            names=tuple(MentionedName(name=each.name, facts=each.facts) for each in page),
            total=len(found),
        )

    @answer(ERASE_FACTS)
    async def erase(self, request: EraseRequest) -> EraseResponse:
        """Forget the facts that are selected."""
        return await answer_erase(
            request, current_envelope().sent_at, self._store.forgetting, _erased
        )

    @answer(OPT_OUT_FACTS)
    async def opt_out(self, request: OptOutRequest) -> OptOutResponse:
        """Store no facts of a user any more, or again."""
        return await change_opt_out(
            self._opt_outs,
            request,
            current_envelope().sent_at,
            scopes=lambda: self._memories.scopes_of(request.user),
            memories=self._store.forgetting,
        )

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


def _stored(stored: "Stored", redacted: Mapping[Kind, int]) -> StoreFactResponse:
    return StoreFactResponse(
        fact_id=stored.id,
        created=stored.created,
        superseded=stored.superseded,
        not_stored=stored.not_stored,
        redacted={kind: redacted[kind] for kind in redacted},
    )


def _erased(fact: FactRecord) -> Erased:
    return Erased(
        kind="fact",
        id=fact.id,
        content=fact.content,
        conversation_id=fact.source,
        invocation_id=fact.invocation_id,
    )
