"""The arguments of a tool call, from what a model wrote."""

import json

from pydantic import JsonValue, TypeAdapter
from pydantic_core import from_json

from fourtier.models.completion.dialects.json_reply import find_json
from fourtier.schema.completion import MALFORMED_ARGUMENTS

_object = TypeAdapter(dict[str, JsonValue])
#: Characters of malformed arguments that the observation quotes.
_MAX_QUOTE = 1_000


def read_arguments(text: str) -> dict[str, JsonValue] | None:
    """Arguments from what a model wrote; None when that is not a JSON object. Nothing is none."""
    if text.strip() in {"", "null"}:
        return {}
    try:
        value = from_json(find_json(text) or "")
        return _object.validate_python(from_json(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def given_arguments(value: JsonValue) -> dict[str, JsonValue]:
    """A JSON object as it is; anything else under `MALFORMED_ARGUMENTS`."""
    if isinstance(value, dict):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    arguments = read_arguments(text)
    return malformed_arguments(text) if arguments is None else arguments


def malformed_arguments(text: str) -> dict[str, JsonValue]:
    """What a model wrote instead of a JSON object, so that the observation can quote it."""
    return {MALFORMED_ARGUMENTS: text[:_MAX_QUOTE]}
