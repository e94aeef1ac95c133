"""Neo4j, the graph store of a cluster."""

from fourtier.engines.graph.neo4j.connection import neo4j_version, open_neo4j
from fourtier.engines.graph.neo4j.store import Neo4jGraphStore

__all__ = ["Neo4jGraphStore", "neo4j_version", "open_neo4j"]
