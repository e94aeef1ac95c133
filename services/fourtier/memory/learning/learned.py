"""What a method of learning gives, whichever it is, and how much of it one message may give."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, Self, TypeVar

from fourtier.memory.statements.text import normalised
from fourtier.runtime.telemetry import CountedMetric
from fourtier.schema.episodes import StoreEpisodeRequest
from fourtier.schema.facts import StoreFactRequest

log = logging.getLogger(__name__)

Experience_contra = TypeVar("Experience_contra", contravariant=True)

REJECTED = CountedMetric(
    "fourtier.learning.rejected_statements",
    "statements beyond the number that one message may have",
    "{statement}",
)


@dataclass(frozen=True, slots=True)
class Learned:
    """What is to be stored of one experience."""

    facts: tuple[StoreFactRequest, ...] = ()
    episode: StoreEpisodeRequest | None = None

    def read_at(self, time: datetime) -> Self:
        """The same, made of a record that was read then."""
        read = {"learned_at": time}
        return replace(
            self,
            facts=tuple(fact.model_copy(update=read) for fact in self.facts),
            episode=self.episode.model_copy(update=read) if self.episode else None,
        )


class Method(Protocol[Experience_contra]):
    """A way to learn from what happened."""

    async def learn(self, experience: Experience_contra) -> Learned:
        """Find facts and an episode."""
        ...


def limited(facts: Iterable[StoreFactRequest], limit: int, service: str) -> list[StoreFactRequest]:
    """The distinct facts of a message, at most `limit`; those beyond are counted and logged.

    Facts are equal when one speaker says the same in one invocation but for case, spacing and the
    final stop; the first one counts.
    """
    distinct: dict[tuple[str, str, str], StoreFactRequest] = {}
    for fact in facts:
        said = (fact.invocation_id, fact.speaker, normalised(fact.content))
        distinct.setdefault(said, fact)
    found = list(distinct.values())
    if (rejected := len(found) - limit) > 0:
        REJECTED.add(rejected, {"messaging.consumer.group.name": service})
        log.warning(
            "%d of %d statements in %s are rejected: at most %d are stored of one message.",
            rejected,
            len(found),
            found[0].invocation_id or found[0].source,
            limit,
            extra={"user": found[0].user, "collection": found[0].collection},
        )
    return found[:limit]
