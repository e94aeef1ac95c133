"""What the messages of a version look like on the wire, as a file that can be kept and compared."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fourtier.schema.topics import Call, Topic
from tests.schema.examples import Examples
from tests.support.declared import all_declared, topic_of

Declared = Topic[Any] | Call[Any, Any]

RELEASED = Path("schema/released")
#: Words for people, and what stands in when a field is left out: neither is on the wire.
_NOT_ON_THE_WIRE = {"title", "description", "default"}


class Release(BaseModel):
    """The messages of one version.

    Attributes:
        topics: by their names.
        models: the JSON schema of every model on them, by its name.
        examples: of every payload and answer, by the name of the model: `least` has what is
            required alone, `full` every field.
    """

    version: str
    topics: dict[str, "ReleasedTopic"]
    models: dict[str, dict[str, Any]]
    examples: dict[str, "ReleasedExamples"]


class ReleasedTopic(BaseModel):
    """How one kind of message travels.

    Attributes:
        persistent: kept by the broker.
        key: of the full example of its payload; None where order is free.
        answer: the model that comes back; None for an event.
        stream: whether it comes back in pieces.
    """

    payload: str
    persistent: bool
    key: str | None
    answer: str | None
    stream: bool


class ReleasedExamples(BaseModel):
    """A message as that version wrote it."""

    least: dict[str, Any]
    full: dict[str, Any]


def present(version: str = "present") -> Release:
    """The messages as they are in the code."""
    return snapshot(all_declared(), version)


def snapshot(declared: Sequence[Declared], version: str = "present") -> Release:
    """These topics and calls with all of their messages."""
    used = dict.fromkeys(model for each in declared for model in _models_of(each))
    names, schemas = models_json_schema(
        [(model, "validation") for model in used], ref_template="{model}"
    )
    name_of = {model: str(names[model, "validation"]["$ref"]) for model in used}
    models = {name: _on_the_wire(schema) for name, schema in schemas["$defs"].items()}
    least, full = Examples(models, full=False), Examples(models)
    examples = {
        name: ReleasedExamples(least=least.of(name), full=full.of(name))
        for name in name_of.values()
    }
    return Release(
        version=version,
        topics={topic_of(each).name: _topic(each, name_of, examples) for each in declared},
        models=models,
        examples=examples,
    )


def _models_of(declared: Declared) -> list[type[BaseModel]]:
    answers = [declared.answer] if isinstance(declared, Call) else []
    return [topic_of(declared).payload, *answers]


def _topic(
    declared: Declared,
    name_of: Mapping[type[BaseModel], str],
    examples: Mapping[str, ReleasedExamples],
) -> ReleasedTopic:
    topic = topic_of(declared)
    payload = name_of[topic.payload]
    key = None
    if topic.key is not None:
        written = json.dumps(examples[payload].full)
        key = topic.key(topic.payload.model_validate_json(written))
    call = declared if isinstance(declared, Call) else None
    return ReleasedTopic(
        payload=payload,
        persistent=topic.persistent,
        key=key,
        answer=name_of[call.answer] if call else None,
        stream=call is not None and call.last is not None,
    )


def _on_the_wire(schema: Any) -> Any:
    """A JSON schema without what is for people; a field may well be called `title`."""
    if isinstance(schema, list):
        return [_on_the_wire(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    retained = {key: value for key, value in schema.items() if key not in _NOT_ON_THE_WIRE}
    return {
        key: {name: _on_the_wire(field) for name, field in value.items()}
        if key == "properties"
        else _on_the_wire(value)
        for key, value in retained.items()
    }


def last_released() -> Release:
    """The newest of the kept files."""
    newest = max(RELEASED.glob("*.json"), key=lambda file: _order(file.stem))
    return Release.model_validate_json(newest.read_text("utf-8"))


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def as_text(release: Release) -> str:
    """The file: sorted, so that only what changed differs."""
    content = release.model_dump(mode="json")
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
