"""A use of a tool as one line of text, as episodes store it, and read back from such a line.

    book_flight({"flight": "CD34"}): booked, seat 4A

An episode may also have steps in a model's words; those are not uses of a tool.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pydantic import JsonValue

_NAME = re.compile(r"(?P<tool>[^\W\d][\w.-]*)\((?=[{)])")
#: Where arguments end that are not valid JSON: of an older version, or with something taken out.
_BEHIND = re.compile(r"\): ")
_CUT = "…"
#: Characters that a value is left at least.
_MIN_VALUE = 12


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool, with what arguments, and what came of it.

    Attributes:
        arguments: as far as they stand in the line; none where they cannot be read.
        result: in short.
    """

    tool: str
    arguments: Mapping[str, JsonValue]
    result: str

    @classmethod
    def read(cls, line: str) -> Self | None:
        """The use that a line tells of; None where it tells of something else."""
        if (begun := _NAME.match(line)) is None:
            return None
        arguments: JsonValue = {}
        end = begun.end()
        if line[end] == "{":
            try:
                arguments, end = json.JSONDecoder().raw_decode(line, end)
            except json.JSONDecodeError:
                behind = _BEHIND.search(line, end)
                end = behind.start() if behind else len(line)
        result = line[end:].removeprefix("):").strip()
        return cls(begun["tool"], arguments if isinstance(arguments, dict) else {}, result)


def written(tool: str, arguments: Mapping[str, JsonValue], characters: int) -> str:
    """The tool with its arguments, which take at most about so many characters.

    What they have more is cut from the longest values, so that every argument is named.
    """
    return f"{tool}({_written(arguments, characters)})" if arguments else f"{tool}()"


def _written(arguments: Mapping[str, JsonValue], characters: int) -> str:
    whole = json.dumps(arguments, ensure_ascii=False)
    longest = characters
    shown = arguments
    while len(whole) > characters and longest > _MIN_VALUE:
        longest = max(_MIN_VALUE, longest * 2 // 3)
        shown = {name: _cut(value, longest) for name, value in arguments.items()}
        whole = json.dumps(shown, ensure_ascii=False)
    names = list(shown)
    while len(whole) > characters and len(names) > 1:
        names.pop()
        whole = json.dumps({name: shown[name] for name in names}, ensure_ascii=False)
    return whole


def _cut(value: JsonValue, characters: int) -> JsonValue:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= characters else f"{text[: characters - 1]}{_CUT}"
