"""What a store says about what it could not erase."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remainder:
    """Where bytes of what was deleted may still be.

    Attributes:
        where: the place in words, such as "the transaction logs of Neo4j".
        until: what removes it there, and when.
    """

    where: str
    until: str
