"""`embeddings`: what a small model makes of texts: vectors, and which of two contradict each other.

Texts that wait together go through the model in one run.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from fourtier.models.batching import Batcher
from fourtier.models.contradictions.client import Pair
from fourtier.models.contradictions.lazy import CROSS_ENCODER, LazyCrossEncoder
from fourtier.models.embeddings.parameters import EmbeddingsParameters
from fourtier.models.genai import model_operation
from fourtier.runtime.service import DeploymentProfile, Service, ServiceContext, answer
from fourtier.schema.embeddings import (
    DETECT_CONTRADICTIONS,
    EMBED,
    DetectContradictionsRequest,
    DetectContradictionsResponse,
    EmbedRequest,
    EmbedResponse,
)
from fourtier.schema.message import Vector

if TYPE_CHECKING:
    from fastembed import TextEmbedding

#: Beyond that, more replicas serve better. `os.cpu_count` does not see a container's limit.
_MAX_THREADS = 4
_LABELS = {"gen_ai.provider.name": "fastembed"}


class EmbeddingsService(Service):
    """Answers `embeddings.embed` and `embeddings.detect-contradictions`."""

    name = "embeddings"
    parameters = EmbeddingsParameters
    #: 305 MB were measured with the bundled model, which uses the processor while there are texts.
    deployment = DeploymentProfile(cpu="500m", memory="384Mi", memory_limit="1Gi")

    def __init__(
        self, encoder: Batcher[str, Vector], detector: Batcher[Pair, float], model: str
    ) -> None:
        self._encoder = encoder
        self._detector = detector
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
        encoder = Batcher(run, parameters.cache_size, threads)
        detector = Batcher(LazyCrossEncoder(), parameters.cache_size, threads)
        try:
            await encoder.run(["warm up"])
            yield cls(encoder, detector, parameters.model)
        finally:
            await encoder.close()
            await detector.close()

    @answer(EMBED, max_concurrency=64)
    async def embed(self, question: EmbedRequest) -> EmbedResponse:
        """Embed texts."""
        with model_operation("embeddings", self._model, _LABELS) as operation:
            vectors = await self._encoder.run(question.texts)
            operation.label({"gen_ai.response.model": self._model})
        return EmbedResponse(vectors=tuple(vectors), model=self._model)

    @answer(DETECT_CONTRADICTIONS, max_concurrency=64)
    async def detect_contradictions(
        self, question: DetectContradictionsRequest
    ) -> DetectContradictionsResponse:
        """Compare statements."""
        pairs = [(each.older, each.newer) for each in question.pairs]
        with model_operation("classify", CROSS_ENCODER, _LABELS):
            probabilities = await self._detector.run(pairs)
        return DetectContradictionsResponse(probabilities=tuple(probabilities))


def _load(name: str) -> "TextEmbedding":
    """Load a model; its library takes seconds to import, and listing topics does without it."""
    from fourtier.models.embeddings.loading import load_model  # noqa: PLC0415

    return load_model(name)
