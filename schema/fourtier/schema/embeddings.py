"""Messages of `embeddings`: text to dense vectors, and statements that contradict each other."""

from pydantic import Field

from fourtier.schema.message import Answer, LongText, Message, Vector
from fourtier.schema.topics import query


class EmbedRequest(Message):
    """Texts to embed; each costs model time unless its vector is in the cache."""

    texts: tuple[LongText, ...] = Field(min_length=1, max_length=512)


class EmbedResponse(Answer):
    """One unit-length vector for each text, in the order asked."""

    vectors: tuple[Vector, ...]
    model: str


class StatementPair(Message):
    """Two statements of one person."""

    older: LongText
    newer: LongText


class DetectContradictionsRequest(Message):
    """Pairs of statements to compare; each costs model time unless it is in the cache."""

    pairs: tuple[StatementPair, ...] = Field(min_length=1, max_length=512)


class DetectContradictionsResponse(Answer):
    """For each pair, in the order asked, whether the newer leaves the older one untrue."""

    probabilities: tuple[float, ...] = Field(description="0 to 1")


EMBED = query("embeddings.embed", EmbedRequest, EmbedResponse, deadline=30.0)
DETECT_CONTRADICTIONS = query(
    "embeddings.detect-contradictions",
    DetectContradictionsRequest,
    DetectContradictionsResponse,
    deadline=30.0,
)
