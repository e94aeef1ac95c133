"""LadybugDB, the embedded graph store."""

from fourtier.engines.graph.ladybug.opening import open_ladybug

__all__ = ["open_ladybug"]
