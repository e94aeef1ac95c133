"""`completion`: any model behind one contract, with a cap on what it may cost."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Self

from fourtier.models.completion.joining import joined
from fourtier.models.completion.parameters import CompletionParameters
from fourtier.models.completion.steps import Model
from fourtier.runtime.service import DeploymentProfile, Service, ServiceContext, stream
from fourtier.schema.completion import COMPLETE, CompleteRequest, CompletionPiece


class CompletionService(Service):
    """Answers `completion.complete`."""

    name = "completion"
    parameters = CompletionParameters
    deployment = DeploymentProfile(uses_model=True)

    def __init__(self, model: Model, max_concurrency: int) -> None:
        self._model = model
        self.max_concurrency = max_concurrency

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: CompletionParameters
    ) -> AsyncGenerator[Self]:
        """Open the model that the environment names, or start the bundled one."""
        # Not at the top: the HTTP client takes long to import, and listing topics does without.
        from fourtier.models.completion.opening import open_model  # noqa: PLC0415

        async with open_model(context, parameters) as (model, max_concurrency):
            yield cls(model, max_concurrency)

    # A caller does not wait longer for the next piece than its deadline.
    @stream(COMPLETE, max_concurrency=attrgetter("max_concurrency"), timeout=COMPLETE.deadline)
    def complete(self, request: CompleteRequest) -> AsyncIterator[CompletionPiece]:
        """Stream one step of the model."""
        return joined(self._model.step(request), streaming=request.streaming)
