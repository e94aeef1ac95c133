"""Both graphs for tests that hold on each of them."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.engines.graph.protocol import GraphSchema, GraphStore
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
    engine: str, place: Path, schema: GraphSchema
) -> AbstractAsyncContextManager[GraphStore]:
    """Open one of `GRAPHS`: a file in a directory, or the server."""
    if engine == "neo4j":
        return open_neo4j(str(SERVERS.neo4j_url), schema, user=None, password=None)
    return open_ladybug(place / "graph.lbug", schema)
