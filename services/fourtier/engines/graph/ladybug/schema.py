"""The tables that LadybugDB needs for a service's schema."""

import ladybug

from fourtier.engines.graph.ladybug.rows import read_rows
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation

#: What a property holds in nodes that are older than the property.
_DEFAULTS = {"STRING": "''", "INT64": "0", "DOUBLE": "0.0", "BOOL": "false"}


def create_tables(connection: ladybug.Connection, schema: GraphSchema) -> None:
    """Create what the schema names and is not there; a file of an older release has less."""
    for node in schema.nodes:
        connection.execute(_create_node(node))
        known = {
            row["name"]
            for row in read_rows(connection, f"CALL table_info('{node.label}') RETURN *", {})
        }
        for name, kind in node.properties.items():
            if name not in known:
                connection.execute(
                    f"ALTER TABLE {node.label} ADD {name} {kind} DEFAULT {_DEFAULTS[kind]}"
                )
    for relation in schema.relations:
        connection.execute(_create_relation(relation))


def _create_node(node: Node) -> str:
    columns = ", ".join(f"{name} {kind}" for name, kind in node.properties.items())
    return f"CREATE NODE TABLE IF NOT EXISTS {node.label}({columns}, PRIMARY KEY(id))"


def _create_relation(relation: Relation) -> str:
    return (
        f"CREATE REL TABLE IF NOT EXISTS {relation.label}(FROM {relation.start} TO {relation.end})"
    )
