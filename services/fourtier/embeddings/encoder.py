"""A fastembed model behind a cache, run in a thread of its own."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from fastembed import TextEmbedding

from fourtier.schema.message import Vector


class Encoder:
    """Texts to unit-length vectors; the latest ones are remembered.

    Args:
        model: loaded.
        cache_size: how many texts are remembered.
    """

    def __init__(self, model: TextEmbedding, cache_size: int) -> None:
        self._model = model
        self._cache: OrderedDict[str, Vector] = OrderedDict()
        self._cache_size = cache_size
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="embed")

    async def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text; each unknown text goes through the model once."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._cache]
        fresh: dict[str, Vector] = {}
        if unknown:
            loop = asyncio.get_running_loop()
            vectors = await loop.run_in_executor(self._executor, self._embed, unknown)
            fresh = dict(zip(unknown, vectors, strict=True))
        found = [fresh[text] if text in fresh else self._cache[text] for text in texts]
        for text, vector in zip(texts, found, strict=True):
            self._remember(text, vector)
        return found

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        return [Vector.of(array.tolist()) for array in self._model.embed(list(texts))]

    def _remember(self, text: str, vector: Vector) -> None:
        self._cache[text] = vector
        self._cache.move_to_end(text)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    def close(self) -> None:
        """Wait for what runs."""
        self._executor.shutdown()
