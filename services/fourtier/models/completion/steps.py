"""One step of a model: ask in its dialect, read the stream, count the tokens."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from fourtier.models.completion.budget import DayBudget
from fourtier.models.completion.dialects.choice import Dialects
from fourtier.models.completion.errors import ModelCutOffError, ModelRejectedError
from fourtier.models.completion.meter import Meter
from fourtier.models.completion.metrics import count_tokens_used
from fourtier.models.completion.wire import ChatRequest, Chunk, Prompt, StreamOptions
from fourtier.models.genai import Attributes, model_operation
from fourtier.schema.completion import CompleteRequest, CompletionPiece

log = logging.getLogger(__name__)

#: Rejected parameters that are left out; the dialect does without the other ones.
_DROPPED = frozenset(
    {
        "max_completion_tokens",
        "max_tokens",
        "parallel_tool_calls",
        "stream",
        "stream_options",
        "temperature",
    }
)


class ChunkSource(Protocol):
    """Where completions come from: an `Endpoint`."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        """The chunks of a completion; raises `ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked, where the request does not say it.

    Attributes:
        labels: the provider and the server, for spans and metrics.
    """

    model: str
    max_tokens: int | None
    temperature: float | None
    labels: Attributes = field(default_factory=dict[str, str | int])


class Model:
    """A model that makes steps.

    It is asked without what its endpoint rejects. That is learned from the first request that has
    it, and remembered once the endpoint takes the request without it.
    """

    def __init__(
        self, endpoint: ChunkSource, dialects: Dialects, sampling: Sampling, budget: DayBudget
    ) -> None:
        self._endpoint = endpoint
        self._dialects = dialects
        self._sampling = sampling
        self._budget = budget
        self._rejected: frozenset[str] = frozenset()

    async def step(self, request: CompleteRequest) -> AsyncGenerator[CompletionPiece]:
        """Thought, answer and action as they come, and the counts at the end.

        Closing the stream early stops the model; the tokens until then are counted.

        Raises:
            ModelError: one of its kinds; see `errors`.
        """
        self._budget.check()
        rejected = self._rejected
        while True:
            try:
                async with aclosing(self._step(request, rejected)) as pieces:
                    async for piece in pieces:
                        yield piece
            except ModelRejectedError as error:
                if error.parameter is None or error.parameter in rejected:
                    raise
                rejected |= {error.parameter}
            else:
                return

    async def _step(
        self, request: CompleteRequest, rejected: frozenset[str]
    ) -> AsyncGenerator[CompletionPiece]:
        """The step, of one request that does without what is rejected."""
        dialect = self._dialects.choose(request, rejected)
        prompt, reader = dialect.prompt(request), dialect.reader(request)
        meter = Meter(prompt, self._sampling.model)
        asked = self._asked(request, prompt, rejected)
        try:
            async with aclosing(self._measured(asked, meter)) as chunks:
                async for chunk in chunks:
                    self._remember(rejected)
                    for choice in chunk.choices[:1]:
                        for piece in reader.take(choice.piece):
                            yield piece
        except ModelCutOffError:
            if not reader.whole:
                raise
        for piece in reader.finish(meter.reason):
            yield piece
        cost = meter.cost
        yield CompletionPiece(
            type="end",
            in_token=cost.prompt_tokens,
            out_token=cost.completion_tokens,
            model=meter.model,
        )

    async def _measured(self, asked: ChatRequest, meter: Meter) -> AsyncGenerator[Chunk]:
        """The chunks of a completion, in a span; its tokens are counted however it ends."""
        with model_operation("chat", self._sampling.model, self._sampling.labels) as operation:
            try:
                async with aclosing(self._endpoint.stream(asked)) as chunks:
                    async for chunk in chunks:
                        meter.take(chunk)
                        yield chunk
            finally:
                cost = meter.cost
                operation.label({"gen_ai.response.model": meter.model})
                operation.describe(
                    {
                        "gen_ai.usage.input_tokens": cost.prompt_tokens,
                        "gen_ai.usage.output_tokens": cost.completion_tokens,
                    }
                )
                count_tokens_used(operation.labels, cost.prompt_tokens, cost.completion_tokens)
                await self._budget.spend(cost.prompt_tokens + cost.completion_tokens)

    def _remember(self, rejected: frozenset[str]) -> None:
        """The endpoint has taken a request without these."""
        if news := rejected - self._rejected:
            self._rejected |= news
            log.warning("The endpoint rejects %s: asked without.", ", ".join(sorted(news)))

    def _asked(
        self, request: CompleteRequest, prompt: Prompt, rejected: frozenset[str]
    ) -> ChatRequest:
        sampling = self._sampling
        limit = request.max_tokens or sampling.max_tokens
        temperature = sampling.temperature if request.temperature is None else request.temperature
        asked = ChatRequest(
            model=sampling.model,
            messages=prompt.messages,
            tools=prompt.tools,
            parallel_tool_calls=prompt.parallel_tool_calls,
            response_format=prompt.response_format,
            max_tokens=limit,
            max_completion_tokens=limit if "max_tokens" in rejected else None,
            temperature=temperature,
            stream_options=None if "stream" in rejected else StreamOptions(),
        )
        return asked.model_copy(update=dict.fromkeys(rejected & _DROPPED))
