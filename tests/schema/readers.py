"""Readers of a released version, made from its file: models that reject what that version rejected.

The classes of an older version are gone; what is left of them is their JSON schema. Models made
from it read as those did: fields that they do not know are ignored, wrong types are rejected.
"""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, JsonValue, RootModel, create_model

from fourtier.schema.message import Message
from tests.schema.snapshot import Release

_BOUNDS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
}
_SCALARS = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


class Readers:
    """The models of a release by their names."""

    def __init__(self, release: Release) -> None:
        self._schemas = release.models
        self._models: dict[str, Any] = {"JsonValue": JsonValue}

    def of(self, name: str) -> Any:
        """The model of that name, made when it is first asked for."""
        if name not in self._models:
            schema = self._schemas[name]
            if "properties" in schema:
                fields = {field: self._field(schema, field) for field in schema["properties"]}
                self._models[name] = create_model(name, __base__=Message, **fields)
            else:
                self._models[name] = RootModel[self._type(schema)]
        return self._models[name]

    def _field(self, schema: dict[str, Any], name: str) -> Any:
        kind = self._type(schema["properties"][name])
        return (kind, ...) if name in schema.get("required", ()) else (kind | None, None)

    def _type(self, schema: dict[str, Any]) -> Any:
        bounds = {_BOUNDS[key]: value for key, value in schema.items() if key in _BOUNDS}
        kind = self._plain(schema)
        return Annotated[kind, Field(**bounds)] if bounds else kind

    def _plain(self, schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return self.of(schema["$ref"])
        if "anyOf" in schema:
            first, *others = (self._type(each) for each in schema["anyOf"])
            for each in others:
                first = first | each
            return first
        if "enum" in schema or "const" in schema:
            return Literal[tuple(schema.get("enum", [schema.get("const")]))]
        return self._container(schema) or _scalar(schema)

    def _container(self, schema: dict[str, Any]) -> Any:
        if "items" in schema:
            return tuple[self._type(schema["items"]), ...]
        if "additionalProperties" in schema:
            return dict[str, self._type(schema["additionalProperties"])]
        return None


def _scalar(schema: dict[str, Any]) -> Any:
    return AwareDatetime if schema.get("format") == "date-time" else _SCALARS[schema["type"]]
