"""Collections on a Qdrant server, seen and made before the services start."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

from qdrant_client import AsyncQdrantClient, models

from fourtier.engines.config import EngineConfig
from fourtier.engines.vectors.points import SCOPE
from fourtier.engines.vectors.qdrant import connect_qdrant, startup_errors
from fourtier.engines.vectors.qdrant_collections import (
    change_layout,
    check_dimensions,
    create_index,
    create_vectors,
    differences,
)
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.stores import Collection

_LEFT = "left as it is, to be moved by hand"


class VectorsProvisioner:
    """Makes the collections of a flow's services. Opened by `provision_vectors`."""

    def __init__(
        self, client: AsyncQdrantClient, place: EngineConfig, collections: Iterable[Collection]
    ) -> None:
        self._client = client
        self._place = place
        self._collections = list(collections)

    def _startup_errors(self) -> AbstractContextManager[None]:
        return startup_errors(self._place.vectors_url, self._place.vectors_key)

    async def plan(self) -> Sequence[Step]:
        """One step for each collection and each of its indexes.

        Raises:
            StartupError: also when a collection keeps other vectors than the flow's.
        """
        steps: list[Step] = []
        for collection in self._collections:
            with self._startup_errors():
                kept = await self._kept(collection)
            steps.append(self._vectors(collection, kept))
            indexed = kept.payload_schema if kept else {}
            steps += [
                self._index(collection, field, is_there=field in indexed)
                for field in (SCOPE, *collection.indexed)
            ]
        return steps

    async def _kept(self, collection: Collection) -> models.CollectionInfo | None:
        name = self._place.name_of(collection)
        if not await self._client.collection_exists(name):
            return None
        kept = await self._client.get_collection(name)
        check_dimensions(kept, name, self._dimensions(collection))
        return kept

    def _dimensions(self, collection: Collection) -> int:
        return collection.dimensions or self._place.dimensions

    def _vectors(self, collection: Collection, kept: models.CollectionInfo | None) -> Step:
        name, dimensions = self._place.name_of(collection), self._dimensions(collection)
        layout = self._place.layout_of(collection)

        async def create() -> None:
            with self._startup_errors():
                await create_vectors(self._client, name, dimensions, layout)

        async def change() -> None:
            with self._startup_errors():
                await change_layout(self._client, name, layout)

        what = f"collection {name}"
        if kept is None:
            note = (
                f"{dimensions} dimensions, {layout.shards} shards in {layout.replicas} copies, "
                f"quantisation {layout.quantisation}"
            )
            return Step("vectors", what, State.MISSING, note, create)
        changing, fixed = differences(kept, layout)
        note = "; ".join(filter(None, [changing, fixed and f"{fixed}: {_LEFT}"]))
        state = State.DIFFERENT if note else State.THERE
        return Step("vectors", what, state, note, change if changing else None)

    def _index(self, collection: Collection, field: str, *, is_there: bool) -> Step:
        name = self._place.name_of(collection)

        async def create() -> None:
            with self._startup_errors():
                await create_index(self._client, name, field)

        what, note = f"index {name}.{field}", "tenant" if field == SCOPE else ""
        if is_there:
            return Step("vectors", what, State.THERE, note)
        return Step("vectors", what, State.MISSING, note, create)


@asynccontextmanager
async def provision_vectors(
    place: EngineConfig, collections: Iterable[Collection]
) -> AsyncGenerator[VectorsProvisioner]:
    """Connect to the server.

    Raises:
        StartupError: it cannot be reached, refuses us, or is too old.
    """
    connecting = connect_qdrant(
        place.vectors_url, key=place.vectors_key, trust_certificates=place.vectors_trust
    )
    async with connecting as client:
        yield VectorsProvisioner(client, place, collections)
