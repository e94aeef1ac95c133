"""Whether old and new replicas can work at the same time: how two versions of messages differ.

A reader ignores fields that it does not know and does without those that have a default. So a new
version may add fields with a default, models and topics, take longer texts and larger numbers, and
know further values of an enumeration. Everything else breaks one of the two.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.schema.snapshot import Release, ReleasedTopic

Schema = Mapping[str, Any]

#: A bound that is new, or has moved in this direction, rejects what was fine before.
_LOWER = ("minLength", "minItems", "minimum", "exclusiveMinimum")
_UPPER = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
_NULL = {"type": "null"}


def incompatible(old: Release, new: Release) -> list[str]:
    """A sentence for each change that old replicas, or old messages, would not survive."""
    comparison = _Comparison(old, new)
    found: dict[str, None] = {}
    for name, topic in old.topics.items():
        found |= dict.fromkeys(_topic(name, topic, new.topics.get(name)))
        if name in new.topics:
            found |= dict.fromkeys(comparison.messages(topic, new.topics[name]))
    return list(found)


def _topic(name: str, old: ReleasedTopic, new: ReleasedTopic | None) -> Iterator[str]:
    if new is None:
        yield f"The topic {name} is gone or has another name."
        return
    if old.persistent != new.persistent:
        retained = "kept by the broker" if old.persistent else "not kept by the broker"
        yield f"The topic {name} is no longer {retained}."
    if old.key != new.key:
        yield f"The topic {name} has the key {new.key!r} where it had {old.key!r}."
    if (old.answer is None) != (new.answer is None) or old.stream != new.stream:
        yield f"The topic {name} is answered in another way."


class _Comparison:
    """Compares models, each pair once, however many messages it is in."""

    def __init__(self, old: Release, new: Release) -> None:
        self._old = old.models
        self._new = new.models
        self._seen: set[tuple[str, str]] = set()

    def messages(self, old: ReleasedTopic, new: ReleasedTopic) -> Iterator[str]:
        yield from self._models(old.payload, new.payload)
        if old.answer and new.answer:
            yield from self._models(old.answer, new.answer)

    def _models(self, old: str, new: str) -> Iterator[str]:
        if (old, new) not in self._seen:
            self._seen.add((old, new))
            yield from self._types(self._old[old], self._new[new], old)

    def _types(self, old: Schema, new: Schema, where: str) -> Iterator[str]:
        if "$ref" in old and "$ref" in new:
            yield from self._models(old["$ref"], new["$ref"])
            return
        old, new = self._resolved(old, self._old), self._resolved(new, self._new)
        if self._kind(old, self._old) != self._kind(new, self._new):
            was, is_ = self._kind(old, self._old), self._kind(new, self._new)
            yield f"{where} changed its type from {was} to {is_}."
        elif "properties" in old:
            yield from self._fields(old, new, where)
        elif "anyOf" in old:
            yield from self._options(old, new, where)
        else:
            yield from _values(old, new, where)
            for inner in ("items", "additionalProperties"):
                if inner in old:
                    yield from self._types(old[inner], new[inner], f"{where}[]")

    def _fields(self, old: Schema, new: Schema, where: str) -> Iterator[str]:
        before, now = old["properties"], new["properties"]
        required = set(new.get("required", ())) - set(old.get("required", ()))
        for name, field in before.items():
            if name not in now:
                yield f"{where}.{name} is gone or has another name."
            else:
                yield from self._types(field, now[name], f"{where}.{name}")
        for name in sorted(required):
            is_new = name not in before
            yield f"{where}.{name} {'is new and' if is_new else 'became'} required."

    def _options(self, old: Schema, new: Schema, where: str) -> Iterator[str]:
        now = {self._kind(each, self._new): each for each in new["anyOf"]}
        for option in old["anyOf"]:
            yield from self._types(option, now[self._kind(option, self._old)], where)

    def _resolved(self, schema: Schema, models: Mapping[str, Schema]) -> Schema:
        return models[schema["$ref"]] if "$ref" in schema else schema

    def _kind(self, schema: Schema, models: Mapping[str, Schema]) -> str:
        """What kind of value it is, in words, without the names of models, which may change."""
        schema = self._resolved(schema, models)
        if "anyOf" in schema:
            options = [self._kind(each, models) for each in schema["anyOf"] if each != _NULL]
            nothing = ["nothing"] if _NULL in schema["anyOf"] else []
            return " or ".join([*sorted(options), *nothing])
        if "properties" in schema:
            return "model"
        for key, word in (("items", "list of"), ("additionalProperties", "mapping to")):
            if isinstance(schema.get(key), Mapping):
                return f"{word} {self._kind(schema[key], models)}"
        kind = str(schema.get("type", "anything"))
        parts = [kind, *(str(schema[key]) for key in ("format", "pattern") if key in schema)]
        return " ".join(parts)


def _values(old: Schema, new: Schema, where: str) -> Iterator[str]:
    """Values that were fine and are no longer."""
    before, now = _enumeration(old), _enumeration(new)
    if now is not None and before is None:
        yield f"{where} takes only {', '.join(map(str, now))} now."
    if before is not None and now is not None:
        for value in before:
            if value not in now:
                yield f"{where} no longer knows {value!r}."
    for keys, direction in ((_LOWER, 1), (_UPPER, -1)):
        for key in keys:
            if key in new and (key not in old or (new[key] - old[key]) * direction > 0):
                was = f"{old[key]}" if key in old else "none"
                yield f"{where} takes less than before: {key} {new[key]}, it was {was}."


def _enumeration(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")
