"""Messages of other versions are read: unknown fields are ignored, missing ones have defaults."""

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from fourtier.schema.agent import AgentRequest, InvocationEnded
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Message
from fourtier.schema.topics import Call
from tests.support.declared import all_declared, topic_of

FUTURE = {"from-the-future": {"said": ["something", 1, None]}}
TIME = "2026-03-01T09:00:00Z"
#: What the first version wrote, with what was required then and no more.
OLD: list[tuple[type[Message], dict[str, Any]]] = [
    (AgentRequest, {"user": "ann", "question": "Where do I live?"}),
    (StoreFactRequest, {"user": "ann", "content": "I live in Oslo."}),
    (
        DialogueTurn,
        {
            "user": "ann",
            "conversation_id": "c1",
            "speaker": "ann",
            "content": "I live in Oslo.",
            "timestamp": TIME,
            "turn_id": "t1",
        },
    ),
    (
        InvocationEnded,
        {
            "user": "ann",
            "conversation_id": "c1",
            "run_id": "r1",
            "question": "How much is 2 + 2?",
            "answer": "4",
            "steps": [{"thought": "add", "action": "calculator", "arguments": {"of": "2 + 2"}}],
            "started_at": TIME,
            "ended_at": TIME,
        },
    ),
]


def models_of(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """The models in a type, at every depth, each once."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            yield annotation
            for field in annotation.model_fields.values():
                yield from models_of(field.annotation, seen)
        return
    for argument in get_args(annotation):
        yield from models_of(argument, seen)


def all_models() -> list[type[BaseModel]]:
    seen: set[type[BaseModel]] = set()
    answers = [each.answer for each in all_declared() if isinstance(each, Call)]
    payloads = [topic_of(each).payload for each in all_declared()]
    return [model for each in (*payloads, *answers) for model in models_of(each, seen)]


def with_future(value: Any) -> Any:
    """The same message with an unknown field in each of its models."""
    if isinstance(value, list):
        return [with_future(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: each if key == "arguments" else with_future(each) for key, each in value.items()
    } | FUTURE


@pytest.mark.parametrize(("model", "old"), OLD, ids=lambda each: getattr(each, "__name__", ""))
def test_an_old_message_is_read_with_and_without_fields_of_the_future(
    model: type[Message], old: dict[str, Any]
) -> None:
    read = model.model_validate_json(json.dumps(old))
    assert json.loads(read.model_dump_json(include=set(old)))["user"] == "ann"
    assert model.model_validate_json(json.dumps(with_future(old))) == read


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.__name__)
def test_every_model_on_the_wire_ignores_unknown_fields_and_rejects_wrong_types(
    model: type[BaseModel],
) -> None:
    assert model.model_config.get("extra", "ignore") == "ignore"
    assert model.model_config.get("frozen")
    for name, field in model.model_fields.items():
        if field.annotation is int:
            with pytest.raises(ValidationError, match=name):
                model.model_validate_json(json.dumps({name: "1"}))
