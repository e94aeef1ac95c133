"""Statements of LadybugDB and their rows."""

from collections.abc import Mapping
from typing import Any

import ladybug

from fourtier.runtime.service.stores.graph import Parameter, Value


def read_through(connection: ladybug.Connection, text: str) -> None:
    """Read rows one by one and forget them."""
    result = connection.execute(text)
    if isinstance(result, list):
        raise TypeError(f"one statement at a time, not: {text}")
    with result:
        for _ in result:
            pass


def read_rows(
    connection: ladybug.Connection, text: str, parameters: Mapping[str, Parameter]
) -> list[dict[str, Value]]:
    """Run one statement; a dict for each row."""
    ready = {name: _in_order(value) for name, value in parameters.items()}
    result = connection.execute(text, ready)
    if isinstance(result, list):
        raise TypeError(f"one statement at a time, not: {text}")
    with result:
        names = result.get_column_names()
        return [dict(zip(names, row, strict=True)) for row in result]


def _in_order(value: Parameter) -> Any:
    """A list of rows with their keys in one order: the engine takes them by position."""
    if isinstance(value, str | int | float):
        return value
    return [dict(sorted(each.items())) if isinstance(each, Mapping) else each for each in value]
