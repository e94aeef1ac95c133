"""The JSON schema of a step: an answer, or one of the tools with its own arguments."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Metadata

_DEFINITIONS = "$defs"
#: A word with a capital letter and some more, in ASCII, without brackets. Of 24 questions about
#: facts in its context the bundled model answers 20 in this form, and 17 without it: it then
#: repeats the date in brackets that stands behind the fact.
_SENTENCE = r"^[A-Z][a-z]{0,15} [ !#-'*-\[\]-~]{1,140}$"


def sentence_schema() -> Metadata:
    """An answer alone, of one sentence; for models that can do no more."""
    return _object_of({"answer": {"type": "string", "pattern": _SENTENCE}})


def step_schema(tools: Sequence[ToolSpec], *, longest: int | None) -> Metadata:
    """A thought, and then an answer or a tool.

    `longest` bounds every text, so that a model which finds no end of its own comes to one.
    """
    text: Metadata = {"type": "string", "minLength": 1}
    before: Metadata = {"thought": text}
    said = _object_of(before | {"answer": text})
    steps: list[JsonValue] = []
    steps.append(said)
    definitions: Metadata = {}
    for tool in tools:
        parameters, defined = _lifted(tool)
        definitions |= defined
        call: Metadata = {"action": {"const": tool.name}, "arguments": parameters}
        steps.append(_object_of(before | call))
    schema: Metadata = {"anyOf": steps} if tools else said
    if definitions:
        schema[_DEFINITIONS] = definitions
    return schema if longest is None else _changed(schema, lambda part: _bounded(part, longest))


def _object_of(properties: Mapping[str, JsonValue]) -> Metadata:
    """Exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _lifted(tool: ToolSpec) -> tuple[Metadata, Metadata]:
    """A tool's parameters, and the definitions that they refer to.

    References start at the root of the whole schema, so definitions go there, under names that no
    other tool has.
    """

    def renamed(part: Metadata) -> Metadata:
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(f"#/{_DEFINITIONS}/"):
            name = reference.removeprefix(f"#/{_DEFINITIONS}/")
            return part | {"$ref": f"#/{_DEFINITIONS}/{tool.name}.{name}"}
        return part

    parameters = _changed(tool.parameters, renamed)
    definitions = parameters.pop(_DEFINITIONS, {})
    named = definitions.items() if isinstance(definitions, dict) else ()
    return parameters, {f"{tool.name}.{name}": definition for name, definition in named}


def _bounded(part: Metadata, longest: int) -> Metadata:
    free = part.get("type") == "string" and not {"enum", "const", "maxLength"} & part.keys()
    return part | {"maxLength": longest} if free else part


def _changed(schema: Metadata, change: Callable[[Metadata], Metadata]) -> Metadata:
    """A copy in which every object, from the inside out, went through `change`."""

    def walk(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return change({name: walk(inner) for name, inner in value.items()})
        return [walk(each) for each in value] if isinstance(value, list) else value

    return change({name: walk(inner) for name, inner in schema.items()})
