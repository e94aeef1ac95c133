"""How long and how much the embedded broker stores of messages that nobody acknowledges."""

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class TopicLimits:
    """For each topic of a kind: the oldest messages beyond them are dropped.

    Attributes:
        prefix: what the names of these topics begin with.
        seconds: after which a message is dropped; 0 is never.
        size: bytes that the messages of one topic may take on the disk.
        property: by which messages are known that are dropped first when there are too many.
        value: what this property begins with then.
    """

    prefix: str
    seconds: int
    size: int
    property: str
    value: str

    def dump(self) -> str:
        """As an argument of a program."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, argument: str) -> Self:
        """Read what `dump` wrote."""
        return cls(**json.loads(argument))
