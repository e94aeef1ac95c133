"""Texts to vectors for services that store them, by a call of the embeddings service."""

from collections.abc import Awaitable, Callable, Sequence

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.embeddings import EMBED, EmbedRequest
from fourtier.schema.message import Vector

#: A vector for each text, in their order.
Embed = Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]


def embed_by(caller: Caller) -> Embed:
    """Embed by one call on the bus.

    Raises: as `Caller.call`.
    """

    async def embed(texts: Sequence[str]) -> Sequence[Vector]:
        answered = await caller.call(EMBED, EmbedRequest(texts=tuple(texts)))
        return answered.vectors

    return embed
