"""`working-memory`: the trace of each run, on disk after every step, short enough for a prompt."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Literal, Self

from pydantic import Field

from fourtier.engines.counting import count_nodes
from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.retention.opting_out import change_opt_out
from fourtier.memory.tombstones.selection import answer_erase
from fourtier.memory.working_memory.forgetting import ErasedRun, Forgetting
from fourtier.memory.working_memory.model_compression import ModelCondenser, open_model_condenser
from fourtier.memory.working_memory.records import RunKey
from fourtier.memory.working_memory.store import OPT_OUTS, SCHEMA, TraceStore
from fourtier.memory.working_memory.traces import Traces
from fourtier.models.text.prompts import Prompt, read_prompt
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Parameters,
    Service,
    ServiceContext,
    Stores,
    answer,
    answer_batch,
    current_envelope,
    periodic,
)
from fourtier.runtime.service.stores.graph import GraphStore
from fourtier.runtime.settings import Settings
from fourtier.schema.erasure import ERASE_WORKING_MEMORY, Erased, EraseRequest, EraseResponse
from fourtier.schema.opt_out import OPT_OUT_WORKING_MEMORY, OptOutRequest, OptOutResponse
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
    prompts: dict[Literal["condense"], Prompt] = Field(
        default={}, description="instead of that which the model is asked with, for `llm`"
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

    @property
    def condense_prompt(self) -> str:
        """How a model is asked to condense; `{tokens}` in it is how much it may write.

        Raises:
            StartupError: the flow names a file that cannot be read, or is empty.
        """
        own = self.prompts.get("condense")
        return read_prompt("fourtier.memory.working_memory", "condense", own)

    def by_model(self, settings: Settings) -> bool:
        """Whether a model condenses. The bundled one is too small to be trusted with it."""
        named = settings.model_url is not None or settings.model_key is not None
        return self.compression == "llm" or (self.compression == "auto" and named)


class WorkingMemoryService(Service):
    """Owns the traces of all runs."""

    name = "working-memory"
    parameters = WorkingMemoryParameters
    stores = Stores(SCHEMA)

    def __init__(
        self, traces: Traces, forgetting: Forgetting, graph: GraphStore, privacy: Privacy
    ) -> None:
        self._privacy = privacy
        self._opt_outs = OptOuts(graph, OPT_OUTS, privacy.policy.opted_out_users)
        self._traces = traces
        self._forgetting = forgetting
        self._graph = graph

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: WorkingMemoryParameters
    ) -> AsyncGenerator[Self]:
        """Open the graph and begin to look for what has expired."""
        async with AsyncExitStack() as stack:
            graph = await stack.enter_async_context(context.open_graph(SCHEMA))
            store = TraceStore(graph)
            model: ModelCondenser | None = None
            if parameters.by_model(context.settings):
                model = await stack.enter_async_context(
                    open_model_condenser(
                        context.caller,
                        store,
                        parameters.condense_seconds,
                        parameters.condense_prompt,
                    )
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
            yield cls(traces, Forgetting(store, graph), graph, context.privacy)

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many runs and steps there are in all."""
        runs = StoreCount(store="graph", kind="runs", number=await self._traces.number())
        return [runs, *await count_nodes(self._graph, {"RunItem": "items of their traces"})]

    @answer_batch(APPEND_WORKING_MEMORY)
    async def append(
        self, requests: Sequence[AppendWorkingMemoryRequest]
    ) -> list[AppendWorkingMemoryResponse]:
        """Add items to runs and give back their traces, both without personal data."""
        requests = [(await self._privacy.clean(request)).message for request in requests]
        traces = await self._traces.append(requests)
        return [AppendWorkingMemoryResponse(trace=trace) for trace in traces]

    @answer(GET_WORKING_MEMORY)
    async def get(self, request: GetWorkingMemoryRequest) -> GetWorkingMemoryResponse:
        """Read a run's trace."""
        run = await self._traces.get(RunKey.of(request), full=request.full)
        opted_out = await self._opt_outs.is_out(request.user)
        return run.model_copy(update={"opted_out": opted_out})

    @answer(DISCARD_WORKING_MEMORY)
    async def discard(self, request: DiscardWorkingMemoryRequest) -> DiscardWorkingMemoryResponse:
        """Drop a run's steps, and its answer too of a user who has opted out."""
        key = RunKey.of(request)
        discarded = await self._traces.discard(key)
        if await self._opt_outs.is_out(request.user):
            await self._forgetting.forget_run(key)
        return DiscardWorkingMemoryResponse(discarded=discarded)

    @answer(ERASE_WORKING_MEMORY)
    async def erase(self, request: EraseRequest) -> EraseResponse:
        """Forget the runs that are selected."""
        return await answer_erase(request, current_envelope().sent_at, self._forgetting, _erased)

    @answer(OPT_OUT_WORKING_MEMORY)
    async def opt_out(self, request: OptOutRequest) -> OptOutResponse:
        """Drop a user's runs with their answers when they end, and researches now, or no more."""
        answered = await change_opt_out(
            self._opt_outs,
            request,
            current_envelope().sent_at,
            scopes=lambda: self._forgetting.scopes(request.user),
            memories=self._forgetting,
        )
        if request.opted_out:
            await self._forgetting.forget_researches(request.user)
        return answered


def _erased(run: ErasedRun) -> Erased:
    return Erased(kind="run", id=run.run_id, content=run.answer, invocation_id=run.run_id)
