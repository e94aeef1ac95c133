"""One step of a model: ask in its dialect, read while it streams, count what it cost."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from fourtier.models.completion.budget import DayBudget
from fourtier.models.completion.dialects.contract import Dialect
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.metrics import count_tokens_used
from fourtier.models.completion.wire import ChatRequest, Chunk, Prompt, Usage
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.completion import CompleteRequest, CompletionPiece


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked, where the request does not say it.

    Attributes:
        completion_limit: the limit is called `max_completion_tokens`, not `max_tokens`.
    """

    model: str
    max_tokens: int | None
    temperature: float | None
    completion_limit: bool = False


@dataclass
class _Meter:
    """What a reply cost so far.

    An endpoint that sends no counts, or that was cut off before it did, is estimated: the JSON of
    the prompt's messages and tools, and the text that came back. Nothing came back: nothing is
    counted.
    """

    prompt: Prompt
    model: str
    reason: str = ""
    usage: Usage | None = None
    text: list[str] = field(default_factory=list)

    def take(self, chunk: Chunk) -> None:
        """Add a chunk."""
        self.model = chunk.model or self.model
        self.usage = chunk.usage or self.usage
        for choice in chunk.choices[:1]:
            self.text.append(choice.piece.text)
            self.reason = choice.finish_reason or self.reason

    @property
    def cost(self) -> Usage:
        """Tokens of prompt and completion."""
        if self.usage is not None:
            return self.usage
        if not self.text:
            return Usage()
        asked = self.prompt.model_dump(mode="json", include={"messages", "tools"})
        return Usage(
            prompt_tokens=count_tokens(json.dumps(asked, ensure_ascii=False)),
            completion_tokens=count_tokens("".join(self.text)),
        )


class Model:
    """A model that makes steps."""

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, sampling: Sampling, budget: DayBudget
    ) -> None:
        self._endpoint = endpoint
        self._dialect = dialect
        self._sampling = sampling
        self._budget = budget

    async def step(self, request: CompleteRequest) -> AsyncIterator[CompletionPiece]:
        """Thought, answer and action as they come, and the counts at the end.

        Raises:
            ModelError: one of its kinds; see `errors`.
        """
        self._budget.check()
        prompt = self._dialect.prompt(request)
        reader = self._dialect.reader(request)
        meter = _Meter(prompt, self._sampling.model)
        try:
            async with aclosing(self._endpoint.stream(self._asked(request, prompt))) as chunks:
                async for chunk in chunks:
                    meter.take(chunk)
                    for choice in chunk.choices[:1]:
                        for piece in reader.take(choice.piece):
                            yield piece
        finally:
            cost = meter.cost
            count_tokens_used(meter.model, cost.prompt_tokens, cost.completion_tokens)
            await self._budget.spend(cost.prompt_tokens + cost.completion_tokens)
        for piece in reader.finish(meter.reason):
            yield piece
        yield CompletionPiece(
            type="end",
            in_token=cost.prompt_tokens,
            out_token=cost.completion_tokens,
            model=meter.model,
        )

    def _asked(self, request: CompleteRequest, prompt: Prompt) -> ChatRequest:
        sampling = self._sampling
        limit = request.max_tokens or sampling.max_tokens
        return ChatRequest(
            model=sampling.model,
            messages=prompt.messages,
            tools=prompt.tools,
            parallel_tool_calls=prompt.parallel_tool_calls,
            response_format=prompt.response_format,
            max_tokens=None if sampling.completion_limit else limit,
            max_completion_tokens=limit if sampling.completion_limit else None,
            temperature=sampling.temperature
            if request.temperature is None
            else request.temperature,
        )
