"""Keys and indexes in Neo4j: compared with the schemas and made before the services start."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

from fourtier.engines.config import EngineConfig
from fourtier.engines.graph.neo4j.connection import (
    connect_neo4j,
    create_index,
    startup_errors,
)
from fourtier.engines.graph.neo4j.schema import Index, indexes
from fourtier.engines.graph.neo4j.store import Neo4jGraphStore
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.stores.schemas import GraphSchema

_SHOW = """
SHOW INDEXES YIELD labelsOrTypes, properties, owningConstraint
WHERE size(labelsOrTypes) = 1 AND size(properties) = 1
RETURN labelsOrTypes[0] AS label, properties[0] AS field, owningConstraint IS NOT NULL AS is_key
"""


class GraphProvisioner:
    """Makes what the schemas of a flow's services ask for. Opened by `provision_graph`."""

    def __init__(
        self, store: Neo4jGraphStore, config: EngineConfig, schemas: Iterable[GraphSchema]
    ) -> None:
        self._store = store
        self._config = config
        self._wanted = [index for schema in schemas for index in indexes(schema)]

    def _startup_errors(self) -> AbstractContextManager[None]:
        return startup_errors(self._config.graph_url, self._config.graph_password)

    async def plan(self) -> Sequence[Step]:
        """One step for each key and index."""
        with self._startup_errors():
            rows = await self._store.read(None, _SHOW)
        there = {
            Index(str(row["label"]), str(row["field"]), is_key=bool(row["is_key"])) for row in rows
        }
        return [self._step(index, is_there=index in there) for index in self._wanted]

    def _step(self, index: Index, *, is_there: bool) -> Step:
        what = f"{'key' if index.is_key else 'index'} {index.label}.{index.field}"
        if is_there:
            return Step("graph", what, State.THERE)

        async def create() -> None:
            with self._startup_errors():
                await create_index(self._store, index)

        return Step("graph", what, State.MISSING, act=create)


@asynccontextmanager
async def provision_graph(
    config: EngineConfig, schemas: Iterable[GraphSchema]
) -> AsyncGenerator[GraphProvisioner]:
    """Connect to the server.

    Raises:
        StartupError: it cannot be reached, or rejects us.
    """
    connecting = connect_neo4j(
        config.graph_url,
        user=config.graph_user,
        password=config.graph_password,
        trust_certificates=config.graph_trust,
        query_seconds=config.query_seconds,
    )
    async with connecting as store:
        yield GraphProvisioner(store, config, schemas)
