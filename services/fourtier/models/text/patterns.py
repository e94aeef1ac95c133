r"""Files of regular expressions, by section: one pattern in a line, `@NAME@` for a definition.

[definitions]
WORDS = (?:one|two)

[numbers]
\b@WORDS@\b
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

_HEADER = re.compile(r"\[([\w-]+)\]")
_PLACEHOLDER = re.compile(r"@([A-Z_]+)@")


@cache
def patterns(name: str) -> Mapping[str, re.Pattern[str]]:
    """Each section of a file of this package as one pattern, blind to case."""
    file = resources.files("fourtier.models.text").joinpath(name)
    definitions: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    section = ""
    for line in file.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if header := _HEADER.fullmatch(line):
            section = header[1]
        elif section == "definitions":
            word, _, pattern = line.partition(" = ")
            definitions[word] = _filled(pattern, definitions)
        else:
            sections.setdefault(section, []).append(_filled(line, definitions))
    return {
        section: re.compile("|".join(lines), re.IGNORECASE) for section, lines in sections.items()
    }


def _filled(pattern: str, definitions: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: definitions[found[1]], pattern)
