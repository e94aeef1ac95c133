"""Qdrant Edge, the embedded vector store."""

from fourtier.engines.vectors.edge.opening import open_edge

__all__ = ["open_edge"]
