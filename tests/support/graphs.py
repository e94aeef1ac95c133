"""Both graphs for tests that hold on each of them."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.runtime.service.stores.graph import GraphStore, Parameter, Statement, Value
from fourtier.runtime.service.stores.known_ids import KnownIds
from fourtier.runtime.service.stores.schemas import GraphSchema
from fourtier.schema.message import Scope
from tests.cluster.servers import SERVERS

#: For a parametrised fixture or test.
GRAPHS = [
    "ladybug",
    pytest.param(
        "neo4j",
        marks=[
            pytest.mark.cluster,
            pytest.mark.skipif(
                SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server"
            ),
        ],
    ),
]


def graph_of(
    engine: str, directory: Path, schema: GraphSchema
) -> AbstractAsyncContextManager[GraphStore]:
    """Open one of `GRAPHS`: a file in a directory, or the server."""
    if engine == "neo4j":
        return open_neo4j(str(SERVERS.neo4j_url), schema, user=None, password=None)
    return open_ladybug(directory / "graph.lbug", schema)


class AllIds(KnownIds):
    """As of a graph that other processes write to: nothing is known not to be there."""

    def __init__(self, real: KnownIds) -> None:
        super().__init__()
        self._real = real

    def add(self, label: str, ids: Iterable[str]) -> None:
        """Tell the others in this process."""
        self._real.add(label, ids)


class Interrupted:
    """A graph of a replica that another one gets ahead of, at a point that a test chooses."""

    def __init__(self, real: GraphStore) -> None:
        self._real = real
        self.known_ids = AllIds(real.known_ids)
        self._calls = 0
        self._deeds: dict[int, Callable[[], Awaitable[object]]] = {}

    def before_call(self, number: int, deed: Callable[[], Awaitable[object]]) -> None:
        """Do something before the so many-th of the calls that come now."""
        self._deeds[self._calls + number] = deed

    async def _call(self) -> None:
        self._calls += 1
        if deed := self._deeds.pop(self._calls, None):
            await deed()

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        await self._call()
        return await self._real.read(scope, text, **parameters)

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        await self._call()
        return await self._real.write(scope, *statements)
