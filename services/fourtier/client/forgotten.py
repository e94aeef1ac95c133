"""What forgetting has deleted, service by service."""

from collections.abc import Mapping
from dataclasses import dataclass

from fourtier.schema.erasure import EraseResponse
from fourtier.schema.message import MAX_ITEMS

#: What a service answers that has deleted nothing.
NOTHING = EraseResponse(number=0)
#: The services of this package that store memories.
OURS = frozenset({"facts", "episodes", "conversations", "working-memory", "archive"})


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What each service has deleted, or would delete.

    Attributes:
        services: the answers, by the name of the service.
    """

    services: Mapping[str, EraseResponse]

    @property
    def number(self) -> int:
        """How many memories in all."""
        return sum(part.number for part in self.services.values())

    @property
    def facts(self) -> EraseResponse:
        """Facts."""
        return self.of("facts")

    @property
    def episodes(self) -> EraseResponse:
        """Episodes."""
        return self.of("episodes")

    @property
    def conversations(self) -> EraseResponse:
        """Exchanges of conversation records: a question with its answer each."""
        return self.of("conversations")

    @property
    def working_memory(self) -> EraseResponse:
        """Runs, with their steps and answers."""
        return self.of("working-memory")

    @property
    def archive(self) -> EraseResponse:
        """Entries: questions, results of tools, answers and blocks of documents, verbatim."""
        return self.of("archive")

    @property
    def others(self) -> Mapping[str, EraseResponse]:
        """Memories of services that other packages add to the flow."""
        return {name: part for name, part in self.services.items() if name not in OURS}

    def of(self, service: str) -> EraseResponse:
        """The answer of a service; nothing where it was not asked."""
        return self.services.get(service, NOTHING)

    def __add__(self, other: "Forgotten") -> "Forgotten":
        """Both together."""
        names = dict.fromkeys([*self.services, *other.services])
        return Forgotten({name: _joined(self.of(name), other.of(name)) for name in names})


def _joined(one: EraseResponse, other: EraseResponse) -> EraseResponse:
    """Two answers of one service as one."""
    return EraseResponse(
        number=one.number + other.number, erased=(*one.erased, *other.erased)[:MAX_ITEMS]
    )
