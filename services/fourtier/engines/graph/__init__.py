"""The graph store: one protocol, LadybugDB and Neo4j."""
