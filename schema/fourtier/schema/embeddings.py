"""Messages of `embeddings`: text to dense vectors."""

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


EMBED = query("embeddings.embed", EmbedRequest, EmbedResponse, deadline=30.0)
