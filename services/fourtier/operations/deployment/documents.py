"""YAML as people write it: merge keys, aliases and short lists on one line.

Values are plain dictionaries and lists; `Alias`, `Merge`, `Text`, `InlineList` and `InlineDict`
mark those that are written in another style than PyYAML's own.
"""

import re
from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import Any

import yaml

_WIDE = 10_000
#: The line of a template that generated YAML replaces, such as `  #> services`.
_MARKER = re.compile(r"^(?P<indent> *)#> (?P<name>[a-z-]+)$", re.MULTILINE)
_MERGE = "tag:yaml.org,2002:merge"
_STRING = "tag:yaml.org,2002:str"
_ALIAS = "!alias"


class Alias(str):
    """A reference to an anchor that stands in the template."""

    __slots__ = ()


class Merge(str):
    """The key `<<`, which takes over all keys of an alias."""

    __slots__ = ()


class Text(str):
    """A text of several lines, shown as it is."""

    __slots__ = ()


class InlineList(list[Any]):
    """A list on one line."""


class InlineDict(dict[Any, Any]):
    """A dictionary on one line."""


#: The key that merges.
MERGE = Merge("<<")


class _Dumper(yaml.SafeDumper):
    """Writes aliases to anchors of the template, and none of its own."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True

    def serialize_node(self, node: Any, parent: Any, index: Any) -> None:
        if node.tag == _ALIAS:
            self.emit(yaml.AliasEvent(node.value))
        else:
            super().serialize_node(node, parent, index)


_Dumper.add_representer(Alias, lambda dumper, data: dumper.represent_scalar(_ALIAS, str(data)))
_Dumper.add_representer(Merge, lambda dumper, data: dumper.represent_scalar(_MERGE, str(data)))
_Dumper.add_representer(
    Text, lambda dumper, data: dumper.represent_scalar(_STRING, str(data), style="|")
)
_Dumper.add_representer(
    InlineList,
    lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True),
)
_Dumper.add_representer(
    InlineDict,
    lambda dumper, data: dumper.represent_mapping(
        "tag:yaml.org,2002:map", data.items(), flow_style=True
    ),
)


def dumped(value: Any) -> str:
    """One YAML document."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE)
    return text


def documents(values: Iterable[Any]) -> str:
    """Several YAML documents in one file."""
    return "---\n".join(map(dumped, values))


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with generated YAML at the lines `#> NAME`, as far to the right as these.

    Raises:
        KeyError: the template has a line for a part that is not there.
    """

    def part(found: re.Match[str]) -> str:
        return indent(parts[found["name"]].rstrip("\n"), found["indent"])

    return _MARKER.sub(part, template)
