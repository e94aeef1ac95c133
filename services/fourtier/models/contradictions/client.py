"""The detection of contradictions for services that store statements, by a call on the bus."""

from collections.abc import Awaitable, Callable, Sequence

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.embeddings import (
    DETECT_CONTRADICTIONS,
    DetectContradictionsRequest,
    StatementPair,
)

#: The older statement, and the newer one.
Pair = tuple[str, str]
#: How likely it is of each pair that the newer one leaves the older one untrue: 0 to 1.
Contradict = Callable[[Sequence[Pair]], Awaitable[Sequence[float]]]


def contradict_by(caller: Caller) -> Contradict:
    """Ask the embeddings service.

    Raises: as `Caller.call`.
    """

    async def contradict(pairs: Sequence[Pair]) -> Sequence[float]:
        asked = tuple(StatementPair(older=older, newer=newer) for older, newer in pairs)
        answered = await caller.call(
            DETECT_CONTRADICTIONS, DetectContradictionsRequest(pairs=asked)
        )
        return answered.probabilities

    return contradict
