"""BM25 sparse vectors for both engines, made by Qdrant's own encoder; the engine adds the IDF."""

from functools import cache
from typing import TYPE_CHECKING

from fourtier.runtime.service.stores.schemas import SparseField

if TYPE_CHECKING:
    import qdrant_edge

_USUAL = SparseField("sparse")


@cache
def _encoder(language: str, average_length: float) -> "qdrant_edge.Bm25":
    import qdrant_edge  # noqa: PLC0415 - services are loaded without the packages of engines

    return qdrant_edge.Bm25(qdrant_edge.Bm25Config(language=language, avg_len=average_length))


def encode_document(text: str, field: SparseField = _USUAL) -> "qdrant_edge.SparseVector":
    """Term weights of a stored text."""
    return _encoder(field.language, field.average_length).embed_document(text)


def encode_query(text: str, field: SparseField = _USUAL) -> "qdrant_edge.SparseVector":
    """Terms of a query, each with weight 1."""
    return _encoder(field.language, field.average_length).embed_query(text)


def terms(text: str) -> frozenset[int]:
    """The stemmed content words of a text, stop words left out, each as the encoder's number."""
    return frozenset(encode_query(text).indices)
