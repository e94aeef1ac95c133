"""Cypher in files: each statement behind a line `// name: what it does`; made ready to run."""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from fourtier.runtime.service.stores.graph import Row, Statement

_HEAD = re.compile(r"^// (?P<name>[a-z_]+): .+$", re.MULTILINE)


@cache
def load_queries(package: str, file: str = "queries.cypher") -> dict[str, str]:
    """Read the statements of a package's file by their names.

    Raises:
        ValueError: two statements have one name.
    """
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    queries: dict[str, str] = {}
    for head, end in zip(heads, ends, strict=True):
        name = head["name"]
        if name in queries:
            raise ValueError(f"{package}/{file} has two statements named {name}")
        queries[name] = text[head.end() : end].strip()
    return queries


def over(
    text: str, parameter: str, given: Sequence[Row], *, all_there: bool = False
) -> list[Statement]:
    """One UNWIND over what is given, or nothing: an engine cannot tell the type of no rows.

    With `all_there` the statement gives a row for each, or nothing of the transaction is stored.
    """
    if not given:
        return []
    return [Statement(text, {parameter: given}, rows=len(given) if all_there else None)]
