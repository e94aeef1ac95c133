"""The stand-in for a Qdrant server fulfils the contract of vector stores, over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from fourtier.engines.vectors.qdrant import open_qdrant
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.service.stores.vectors import VectorStore
from tests.engines.vectors_contract import DIMENSIONS, KIND, VectorStoreContract
from tests.support.qdrant import shared_qdrant

pytestmark = pytest.mark.slow


@asynccontextmanager
async def _opened(dimensions: int, fields: Fields) -> AsyncGenerator[VectorStore]:
    async with (
        shared_qdrant() as url,
        open_qdrant(url, "test", dimensions, fields, key=None) as store,
    ):
        yield store


class TestSharedQdrant(VectorStoreContract):
    def opened(
        self, directory: Path, dimensions: int = DIMENSIONS, fields: Fields = KIND
    ) -> AbstractAsyncContextManager[VectorStore]:
        del directory  # in memory
        return _opened(dimensions, fields)
