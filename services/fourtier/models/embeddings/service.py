"""`embeddings`: text to vectors, what waits together in one run of the model."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self

from pydantic import Field

from fourtier.models.embeddings import bundled
from fourtier.models.embeddings.encoder import Encoder
from fourtier.models.embeddings.loading import load_model
from fourtier.runtime.service import (
    DeploymentProfile,
    Parameters,
    Service,
    ServiceContext,
    answer,
)
from fourtier.schema.embeddings import EMBED, EmbedRequest, EmbedResponse
from fourtier.schema.message import Vector

#: Beyond that, more replicas serve better; a container's share of a large machine is not seen here.
_MOST_THREADS = 4


class EmbeddingsParameters(Parameters):
    """Which model, and how much of a machine it may take."""

    model: str = Field(
        default=bundled.NAME, description="the bundled one, or one that fastembed finds on disk"
    )
    cache_size: int = Field(default=10_000, ge=1, description="texts whose vectors are remembered")
    threads: int | None = Field(
        default=None, ge=1, description="runs of the model at once; a core each, 4 at most"
    )


class EmbeddingsService(Service):
    """Answers `embeddings.embed`."""

    name = "embeddings"
    parameters = EmbeddingsParameters
    #: 305 MB were measured with the bundled model, which uses the processor while there are texts.
    deployment = DeploymentProfile(cpu="500m", memory="384Mi", memory_limit="1Gi")

    def __init__(self, encoder: Encoder, model: str) -> None:
        self._encoder = encoder
        self._model = model

    @classmethod
    @asynccontextmanager
    async def open(
        cls, _context: ServiceContext, parameters: EmbeddingsParameters
    ) -> AsyncGenerator[Self]:
        """Load the model."""
        model = await asyncio.to_thread(load_model, parameters.model)

        def run(texts: list[str]) -> list[Vector]:
            return [Vector.of(array.tolist()) for array in model.embed(texts)]

        threads = parameters.threads or min(_MOST_THREADS, os.cpu_count() or 1)
        encoder = Encoder(run, parameters.cache_size, threads)
        try:
            await encoder.encode(["warm up"])
            yield cls(encoder, parameters.model)
        finally:
            await encoder.close()

    @answer(EMBED, max_concurrency=64)
    async def embed(self, question: EmbedRequest) -> EmbedResponse:
        """Embed texts."""
        vectors = await self._encoder.encode(question.texts)
        return EmbedResponse(vectors=tuple(vectors), model=self._model)
