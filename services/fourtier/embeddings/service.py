"""`embeddings`: text to vectors, what has arrived together in one run of the model."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar, Self

from pydantic import Field

from fourtier.embeddings import bundled
from fourtier.embeddings.encoder import Encoder
from fourtier.embeddings.loading import load_model
from fourtier.runtime.routes import Route, answer_together
from fourtier.runtime.service import Parameters, Surroundings
from fourtier.schema.embeddings import EMBED, EmbedRequest, EmbedResponse


class EmbeddingsParameters(Parameters):
    """`model`: the bundled one or any that fastembed knows and finds on disk."""

    model: str = bundled.NAME
    cache_size: int = Field(default=10_000, ge=1)
    threads: int | None = Field(default=None, ge=1)


class EmbeddingsService:
    """Answers `embeddings.embed`."""

    parameters: ClassVar[type[EmbeddingsParameters]] = EmbeddingsParameters

    def __init__(self, encoder: Encoder, model: str) -> None:
        self._encoder = encoder
        self._model = model

    @classmethod
    @asynccontextmanager
    async def open(
        cls, _surroundings: Surroundings, parameters: EmbeddingsParameters
    ) -> AsyncGenerator[Self]:
        """Load the model."""
        model = await asyncio.to_thread(load_model, parameters.model, parameters.threads)
        encoder = Encoder(model, parameters.cache_size)
        try:
            await encoder.encode(["warm up"])
            yield cls(encoder, parameters.model)
        finally:
            encoder.close()

    def routes(self) -> Iterator[Route]:
        """What it handles."""
        yield answer_together(EMBED, self.embed, most=32)

    async def embed(self, questions: Sequence[EmbedRequest]) -> list[EmbedResponse]:
        """Embed the texts of all questions at once."""
        texts = [text for question in questions for text in question.texts]
        vectors = iter(await self._encoder.encode(texts))
        return [
            EmbedResponse(vectors=tuple(next(vectors) for _ in question.texts), model=self._model)
            for question in questions
        ]
