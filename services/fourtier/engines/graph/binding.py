"""Parameters for a statement, checked alike for both engines.

Left to themselves they differ: LadybugDB takes a missing parameter for null, and fails on one
that is not used; Neo4j does the opposite.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from fourtier.runtime.service.stores.graph import Parameter, Statement
from fourtier.schema.message import Scope

_NAME = re.compile(r"\$(\w+)")


def bound(
    scope: Scope | None, text: str, parameters: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """The parameters with the scope.

    Raises:
        ValueError: the text names others than are given; above all, it is to run in a scope and
            does not say `$scope`.
    """
    given = dict(parameters)
    if scope is not None:
        given["scope"] = scope.key
    named = _named(text)
    if missing := sorted(named - given.keys()):
        raise ValueError(f"no value is given for ${', $'.join(missing)} in: {text}")
    if unused := sorted(given.keys() - named):
        raise ValueError(f"${', $'.join(unused)} is given, but not used in: {text}")
    return given


def bound_all(scope: Scope | None, statements: Sequence[Statement]) -> list[Statement]:
    """Statements with their parameters as `bound` gives them.

    Raises:
        ValueError: as `bound`.
    """
    return [
        replace(each, parameters=bound(scope, each.text, each.parameters)) for each in statements
    ]


@cache
def _named(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))
