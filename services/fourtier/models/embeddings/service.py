"""`embeddings`: text to vectors; texts that wait together go through the model in one run."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from fourtier.models.embeddings.encoder import Encoder
from fourtier.models.embeddings.parameters import EmbeddingsParameters
from fourtier.models.genai import model_operation
from fourtier.runtime.service import DeploymentProfile, Service, ServiceContext, answer
from fourtier.schema.embeddings import EMBED, EmbedRequest, EmbedResponse
from fourtier.schema.message import Vector

if TYPE_CHECKING:
    from fastembed import TextEmbedding

#: Beyond that, more replicas serve better. `os.cpu_count` does not see a container's limit.
_MAX_THREADS = 4
_LABELS = {"gen_ai.provider.name": "fastembed"}


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
        cls, context: ServiceContext, parameters: EmbeddingsParameters
    ) -> AsyncGenerator[Self]:
        """Load the model.

        Raises:
            StartupError: it is not installed.
        """
        del context  # it has no store and calls no service
        model = await asyncio.to_thread(_load, parameters.model)

        def run(texts: list[str]) -> list[Vector]:
            return [Vector.of(array.tolist()) for array in model.embed(texts)]

        threads = parameters.threads or min(_MAX_THREADS, os.cpu_count() or 1)
        encoder = Encoder(run, parameters.cache_size, threads)
        try:
            await encoder.encode(["warm up"])
            yield cls(encoder, parameters.model)
        finally:
            await encoder.close()

    @answer(EMBED, max_concurrency=64)
    async def embed(self, question: EmbedRequest) -> EmbedResponse:
        """Embed texts."""
        with model_operation("embeddings", self._model, _LABELS) as operation:
            vectors = await self._encoder.encode(question.texts)
            operation.label({"gen_ai.response.model": self._model})
        return EmbedResponse(vectors=tuple(vectors), model=self._model)


def _load(name: str) -> "TextEmbedding":
    """Load a model; its library takes seconds to import, and listing topics does without it."""
    from fourtier.models.embeddings.loading import load_model  # noqa: PLC0415

    return load_model(name)
