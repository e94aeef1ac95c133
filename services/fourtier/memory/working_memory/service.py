"""`working-memory`: the trace of each run, on disk after every step, short enough for a prompt."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Literal, Self

from pydantic import Field

from fourtier.engines.config import engine_config
from fourtier.engines.counting import count_nodes
from fourtier.engines.graph.protocol import GraphStore
from fourtier.engines.opening import open_graph
from fourtier.memory.working_memory.model_compression import ModelCondenser, open_model_condenser
from fourtier.memory.working_memory.records import RunKey
from fourtier.memory.working_memory.store import SCHEMA, TraceStore
from fourtier.memory.working_memory.traces import Traces
from fourtier.runtime.service import (
    Parameters,
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    periodic,
)
from fourtier.runtime.settings import Settings
from fourtier.schema.status import StoreCount
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    DISCARD_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    AppendWorkingMemoryResponse,
    DiscardWorkingMemoryRequest,
    DiscardWorkingMemoryResponse,
    GetWorkingMemoryRequest,
    GetWorkingMemoryResponse,
)

_TEN_YEARS = 315_360_000
_WEEK = 604_800


class WorkingMemoryParameters(Parameters):
    """How a trace is compressed, and how long it is stored."""

    compression: Literal["auto", "rule", "llm"] = Field(
        default="auto", description="auto: by a model where a real one is named, else by rule"
    )
    condense_seconds: float = Field(
        default=60, gt=0, description="a model that takes longer is not waited for"
    )
    answer_retention_seconds: float = Field(
        default=3_600,
        ge=0,
        le=_TEN_YEARS,
        description="so long a repeated request gets the answer of its run",
    )
    trace_retention_seconds: float = Field(
        default=_WEEK,
        gt=0,
        le=_TEN_YEARS,
        description="so long a run that was cut off may be taken up",
    )
    sweep_seconds: float = Field(
        default=60, gt=0, description="pause between two looks for what has expired"
    )

    def by_model(self, settings: Settings) -> bool:
        """Whether a model condenses. The bundled one is too small to be trusted with it."""
        named = settings.model_url is not None or settings.model_key is not None
        return self.compression == "llm" or (self.compression == "auto" and named)


class WorkingMemoryService(Service):
    """Owns the traces of all runs."""

    name = "working-memory"
    parameters = WorkingMemoryParameters
    stores = Stores(SCHEMA)

    def __init__(self, traces: Traces, graph: GraphStore) -> None:
        self._traces = traces
        self._graph = graph

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: WorkingMemoryParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and begin to look for what has expired."""
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(open_graph(engine_config(context), SCHEMA))
            store = TraceStore(graph)
            model: ModelCondenser | None = None
            if parameters.by_model(context.settings):
                model = await stack.enter_async_context(
                    open_model_condenser(context.caller, store, parameters.condense_seconds)
                )
            traces = Traces(store, model)
            expire = partial(
                traces.expire,
                answers_after=timedelta(seconds=parameters.answer_retention_seconds),
                traces_after=timedelta(seconds=parameters.trace_retention_seconds),
            )
            await stack.enter_async_context(
                periodic("The sweep of expired traces", parameters.sweep_seconds, expire)
            )
            yield cls(traces, graph)

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many runs and steps there are in all."""
        return await count_nodes(self._graph, {"Run": "runs", "RunItem": "items of their traces"})

    @answer_batch(APPEND_WORKING_MEMORY)
    async def append(
        self, requests: Sequence[AppendWorkingMemoryRequest]
    ) -> list[AppendWorkingMemoryResponse]:
        """Add items to runs and give back their traces."""
        traces = await self._traces.append(requests)
        return [AppendWorkingMemoryResponse(trace=trace) for trace in traces]

    @answer(GET_WORKING_MEMORY)
    async def get(self, request: GetWorkingMemoryRequest) -> GetWorkingMemoryResponse:
        """Read a run's trace."""
        trace, ended_with = await self._traces.get(RunKey.of(request), full=request.full)
        return GetWorkingMemoryResponse(trace=trace, answer=ended_with)

    @answer(DISCARD_WORKING_MEMORY)
    async def discard(self, request: DiscardWorkingMemoryRequest) -> DiscardWorkingMemoryResponse:
        """Drop a run's steps."""
        discarded = await self._traces.discard(RunKey.of(request))
        return DiscardWorkingMemoryResponse(discarded=discarded)
