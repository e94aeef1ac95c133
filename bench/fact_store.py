"""What the benchmarks of facts share: the bundled models in this process, and empty stores."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.vectors.edge import open_edge
from fourtier.memory.facts.detector import Detector
from fourtier.memory.facts.graph import SCHEMA
from fourtier.memory.facts.index import COLLECTION
from fourtier.memory.facts.store import FactStore
from fourtier.models.contradictions.client import Contradict, Pair
from fourtier.models.contradictions.cross_encoder import CrossEncoder
from fourtier.models.embeddings import bundled
from fourtier.models.embeddings.loading import load_model
from fourtier.schema.message import Vector


def embedder() -> tuple[int, "Embedder"]:
    """The bundled model's number of dimensions, and the model."""
    model = Embedder()
    return len(next(iter(model.model.embed(["a"])))), model


class Embedder:
    """The bundled embedding model, in this process."""

    def __init__(self) -> None:
        self.model = load_model(bundled.NAME)

    async def __call__(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        found = await asyncio.to_thread(lambda: list(self.model.embed(list(texts))))
        return [Vector.of(vector) for vector in found]


def in_process() -> Contradict:
    """The detection of contradictions in this process."""
    model = CrossEncoder.load()

    async def contradict(pairs: Sequence[Pair]) -> list[float]:
        return await asyncio.to_thread(model, list(pairs))

    return contradict


@asynccontextmanager
async def empty_store(
    embedding: tuple[int, Embedder], detector: Detector | None
) -> AsyncGenerator[FactStore]:
    """The product's own store of facts on the embedded engines; it is gone with the context."""
    dimensions, embed = embedding
    with tempfile.TemporaryDirectory(prefix="fourtier-bench-") as data:
        async with (
            open_ladybug(Path(data) / "graph.lbug", SCHEMA) as graph,
            open_edge(Path(data) / "vectors", dimensions, COLLECTION.fields) as edge,
        ):
            yield FactStore(graph, edge, embed, detector=detector)
