"""BM25 sparse vectors for both engines, made by Qdrant's own encoder; the engine adds the IDF."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import qdrant_edge


@cache
def _encoder() -> "qdrant_edge.Bm25":
    import qdrant_edge  # noqa: PLC0415 - services are loaded without the packages of engines

    # Memories are sentences, not pages: about twenty tokens after stop words are gone.
    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(language="english", avg_len=20.0))


def encode_document(text: str) -> "qdrant_edge.SparseVector":
    """Term weights of a stored text."""
    return _encoder().embed_document(text)


def encode_query(text: str) -> "qdrant_edge.SparseVector":
    """Terms of a query, each with weight 1."""
    return _encoder().embed_query(text)


def terms(text: str) -> frozenset[int]:
    """The stemmed content words of a text, stop words left out, each as the encoder's number."""
    return frozenset(encode_query(text).indices)
