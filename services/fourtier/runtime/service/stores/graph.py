"""What a service asks of a graph store: named Cypher statements, the same text for each engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.known_ids import KnownIds
from fourtier.schema.message import Scope

#: What a property can hold. Times are ISO 8601 texts in UTC, which sort by time; nothing
#: is ever null: an engine that is typed by column cannot guess a null's type, and a null from
#: Neo4j is of a node that is being deleted, whose row is left out. So a statement says with
#: `coalesce` what a property is of nodes that are older than the property.
Value = str | int | float | bool
Row = Mapping[str, Value]
#: A list of rows has at least one row, and each row has the same keys, for the same reason.
Parameter = Value | Sequence[Value] | Sequence[Row]


@dataclass(frozen=True, slots=True)
class Statement:
    """A Cypher text and the parameters that it names, but for `$scope`, which the store binds.

    Attributes:
        rows: how many rows it must give; None where any number is right.
    """

    text: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    rows: int | None = None


class ConflictError(Exception):
    """Another writer has changed meanwhile what a transaction builds on. Nothing is stored."""


def require_rows(statement: Statement, rows: Sequence[Row]) -> None:
    """See that a statement gave as many rows as it must.

    Raises:
        ConflictError: it gave others.
    """
    if statement.rows is not None and len(rows) != statement.rows:
        raise ConflictError(f"{len(rows)} rows instead of {statement.rows}: {statement.text}")


class GraphStore(Protocol):
    """A graph database. The scope is an argument that cannot be left out.

    It is bound to `$scope`, and a statement that is to run in a scope and does not name it is a
    ValueError; None stands for what is done across scopes. The errors of the engine come as they
    are.
    """

    @property
    def known_ids(self) -> KnownIds:
        """Tells which nodes of labels that are rare need not be looked for."""
        ...

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement, which can change nothing; a dict for each row.

        Raises:
            ValueError: the parameters are not those that the text names.
        """
        ...

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns. Rows of each statement.

        All of it is stored or nothing. Until it has returned, a reader may see a part of it: Neo4j
        lets them, LadybugDB does not.

        Raises:
            ConflictError: a statement did not give the rows that it must, or another writer has
                created what this one creates. Read again what is there, and try again.
            ValueError: the parameters of a statement are not those that its text names.
        """
        ...

    async def erase(self) -> Sequence[Remainder]:
        """Remove what was deleted from the disk too, as far as the engine lets us.

        Embedded engines do so by themselves some time after a deletion. Whoever must know that it
        is done, or has overwritten a text instead of deleting it, awaits this behind the write.
        Its cost is that of copying the whole store, if anything was written since the last time.

        Returns where bytes of it may still be; nothing when they are gone.

        Raises:
            UnavailableError: it cannot be done now.
        """
        ...
