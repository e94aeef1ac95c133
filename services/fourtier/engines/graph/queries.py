"""Cypher kept in files: each statement behind a line `// name: what it does`."""

import re
from functools import cache
from importlib import resources

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
