"""Examples of messages, made from their JSON schema."""

from collections.abc import Mapping
from typing import Any

#: Four dimensions: 1, 0, 0, 0.
_VECTOR = "AACAPwAAAAAAAAAAAAAAAA=="
_NULL = {"type": "null"}
_FUTURE = {"from-the-future": {"said": ["something", 1, None]}}

Schema = Mapping[str, Any]


class Examples:
    """Makes examples of models.

    Args:
        models: JSON schemas by the names of the models, which refer to one another by these.
        full: with the fields that may be left out.
        future: with fields that nobody knows yet, in every model at every depth.
    """

    def __init__(
        self, models: Mapping[str, Schema], *, full: bool = True, future: bool = False
    ) -> None:
        self._models = models
        self._full = full
        self._future = future

    def of(self, model: str) -> Any:
        """An example of a model by its name; texts say which field they stand in."""
        return _VECTOR if model == "Vector" else self._of(self._models[model], model)

    def _of(self, schema: Schema, name: str) -> Any:
        if "$ref" in schema:
            model = schema["$ref"]
            return name if model == "JsonValue" else self.of(model)
        if "enum" in schema or "const" in schema:
            return schema.get("enum", [schema.get("const")])[0]
        if "anyOf" in schema:
            return self._of(next(each for each in schema["anyOf"] if each != _NULL), name)
        if schema["type"] == "object":
            return self._object(schema)
        if schema["type"] == "array":
            return [self._of(schema["items"], name)]
        return _scalar(schema, name)

    def _object(self, schema: Schema) -> dict[str, Any]:
        if "properties" not in schema:
            return {"key": self._of(schema["additionalProperties"], "value")}
        required = schema.get("required", [])
        return {
            name: self._of(field, name)
            for name, field in schema["properties"].items()
            if self._full or name in required
        } | (_FUTURE if self._future else {})


def _scalar(schema: Schema, name: str) -> Any:
    if schema.get("format") == "date-time":
        return "2026-01-31T12:00:00Z"
    if schema["type"] == "string":
        return name
    return True if schema["type"] == "boolean" else schema.get("minimum", 1)
