"""Collections on a Qdrant server: compared with the flow and made before the services start."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

from qdrant_client import AsyncQdrantClient, models

from fourtier.engines.config import EngineConfig
from fourtier.engines.vectors.points import SCOPE
from fourtier.engines.vectors.qdrant.collections import (
    change_layout,
    check_fields,
    create_index,
    create_vectors,
    differences,
    indexes,
)
from fourtier.engines.vectors.qdrant.connection import connect_qdrant, startup_errors
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.stores.schemas import Collection

_LEFT = "left as it is, to be moved by hand"


class VectorsProvisioner:
    """Makes the collections of a flow's services. Opened by `provision_vectors`."""

    def __init__(
        self, client: AsyncQdrantClient, config: EngineConfig, collections: Iterable[Collection]
    ) -> None:
        self._client = client
        self._config = config
        self._collections = list(collections)

    def _startup_errors(self) -> AbstractContextManager[None]:
        return startup_errors(self._config.vectors_url, self._config.vectors_key)

    async def plan(self) -> Sequence[Step]:
        """One step for each collection and each of its indexes.

        Raises:
            StartupError: also when a collection has other vectors than the flow's.
        """
        steps: list[Step] = []
        for collection in self._collections:
            with self._startup_errors():
                found = await self._found(collection)
            steps.append(self._vectors(collection, found))
            indexed = found.payload_schema if found else {}
            steps += [
                self._index(collection, field, is_there=field in indexed)
                for field in indexes(collection.fields)
            ]
        return steps

    async def _found(self, collection: Collection) -> models.CollectionInfo | None:
        name = self._config.name_of(collection)
        if not await self._client.collection_exists(name):
            return None
        found = await self._client.get_collection(name)
        check_fields(found, name, self._dimensions(collection), collection.fields)
        return found

    def _dimensions(self, collection: Collection) -> int:
        return collection.dimensions or self._config.dimensions

    def _vectors(self, collection: Collection, found: models.CollectionInfo | None) -> Step:
        name, dimensions = self._config.name_of(collection), self._dimensions(collection)
        layout = self._config.layout_of(collection)

        async def create() -> None:
            with self._startup_errors():
                await create_vectors(self._client, name, dimensions, collection.fields, layout)

        async def change() -> None:
            with self._startup_errors():
                await change_layout(self._client, name, layout)

        what = f"collection {name}"
        if found is None:
            note = (
                f"{dimensions} dimensions, {layout.shards} shards in {layout.replicas} copies, "
                f"quantisation {layout.quantisation}"
            )
            return Step("vectors", what, State.MISSING, note, create)
        changing, fixed = differences(found, layout)
        note = "; ".join(filter(None, [changing, fixed and f"{fixed}: {_LEFT}"]))
        state = State.DIFFERENT if note else State.THERE
        return Step("vectors", what, state, note, change if changing else None)

    def _index(self, collection: Collection, field: str, *, is_there: bool) -> Step:
        name = self._config.name_of(collection)

        async def create() -> None:
            with self._startup_errors():
                await create_index(self._client, name, field, collection.fields)

        what, note = f"index {name}.{field}", "tenant" if field == SCOPE else ""
        if is_there:
            return Step("vectors", what, State.THERE, note)
        return Step("vectors", what, State.MISSING, note, create)


@asynccontextmanager
async def provision_vectors(
    config: EngineConfig, collections: Iterable[Collection]
) -> AsyncGenerator[VectorsProvisioner]:
    """Connect to the server.

    Raises:
        StartupError: it cannot be reached, rejects us, or is too old.
    """
    connecting = connect_qdrant(
        config.vectors_url,
        key=config.vectors_key,
        trust_certificates=config.vectors_trust,
        query_seconds=config.query_seconds,
    )
    async with connecting as client:
        yield VectorsProvisioner(client, config, collections)
