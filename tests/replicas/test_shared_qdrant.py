"""The stand-in for a Qdrant server fulfils the contract of vector stores, over HTTP."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from fourtier.engines.vectors.protocol import VectorStore
from fourtier.engines.vectors.qdrant import open_qdrant
from tests.engines.vectors_contract import DIMENSIONS, VectorStoreContract
from tests.support.qdrant import shared_qdrant


@asynccontextmanager
async def _opened(dimensions: int, indexed: Sequence[str]) -> AsyncGenerator[VectorStore]:
    async with (
        shared_qdrant() as url,
        open_qdrant(url, "test", dimensions, indexed, key=None) as store,
    ):
        yield store


class TestSharedQdrant(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, indexed: Sequence[str] = ("kind",)
    ) -> AbstractAsyncContextManager[VectorStore]:
        del directory  # in memory
        return _opened(dimensions, indexed)
