"""Qdrant, the vector store of a cluster."""

from fourtier.engines.vectors.qdrant.collections import create_collection
from fourtier.engines.vectors.qdrant.connection import open_qdrant, qdrant_version
from fourtier.engines.vectors.qdrant.store import QdrantVectorStore

__all__ = ["QdrantVectorStore", "create_collection", "open_qdrant", "qdrant_version"]
