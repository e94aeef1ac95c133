"""The arguments of a tool call, from what a model wrote."""

import json

from pydantic import JsonValue, TypeAdapter, ValidationError

from fourtier.schema.completion import MALFORMED_ARGUMENTS

_object = TypeAdapter(dict[str, JsonValue])
#: Characters of malformed arguments that the observation quotes.
_MAX_QUOTE = 1_000


def read_arguments(text: str) -> dict[str, JsonValue] | None:
    """Arguments from JSON text; None when it is not a JSON object."""
    try:
        return _object.validate_json(text)
    except ValidationError:
        return None


def given_arguments(value: JsonValue) -> dict[str, JsonValue]:
    """A JSON object as it is; anything else under `MALFORMED_ARGUMENTS`."""
    if isinstance(value, dict):
        return value
    return malformed_arguments(value if isinstance(value, str) else json.dumps(value))


def malformed_arguments(text: str) -> dict[str, JsonValue]:
    """What a model wrote instead of a JSON object, so that the observation can quote it."""
    return {MALFORMED_ARGUMENTS: text[:_MAX_QUOTE]}
