"""A plan is a list of steps: each is one thing, what is there of it, and how the rest is made."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class State(Enum):
    """What there is of a thing."""

    THERE = "is there"
    MISSING = "is missing"
    DIFFERENT = "is different"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a flow needs of a server.

    Attributes:
        engine: `bus`, `graph` or `vectors`.
        note: what is wanted, and what differs from it.
        act: makes or changes it, and does no harm where another did so meanwhile; None where
            nothing is to be done, or only a person can do it.
    """

    engine: str
    what: str
    state: State
    note: str = ""
    act: Callable[[], Awaitable[None]] | None = None


class Provisioner(Protocol):
    """Looks after one server."""

    async def plan(self) -> Sequence[Step]:
        """See what is there; changes nothing. The steps are to be done in their order.

        Raises:
            StartupError: the server cannot be reached or does not authorise us.
        """
        ...


class NothingToDo:
    """Stands for an engine that makes what it needs when the flow starts."""

    def __init__(self, engine: str, url: str) -> None:
        self._step = Step(engine, url, State.THERE, "nothing is to be done: made at the start")

    async def plan(self) -> Sequence[Step]:
        """The one step, which is none."""
        return [self._step]
