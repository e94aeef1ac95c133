"""The keys and indexes that Neo4j needs for a service's schema."""

from collections.abc import Iterator
from dataclasses import dataclass

from fourtier.runtime.service.stores.schemas import GraphSchema


@dataclass(frozen=True, slots=True)
class Index:
    """An index on one property; a key is one that holds each value once."""

    label: str
    field: str
    is_key: bool

    @property
    def statement(self) -> str:
        """Creates it where it is missing."""
        name = f"{self.label.lower()}_{self.field}"
        if self.is_key:
            return (
                f"CREATE CONSTRAINT {name} IF NOT EXISTS "
                f"FOR (n:{self.label}) REQUIRE n.{self.field} IS UNIQUE"
            )
        return f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{self.label}) ON (n.{self.field})"


def indexes(schema: GraphSchema) -> Iterator[Index]:
    """All that a schema needs, keys first."""
    for node in schema.nodes:
        yield Index(node.label, "id", is_key=True)
    for node in schema.nodes:
        for name in node.indexed:
            yield Index(node.label, name, is_key=False)
