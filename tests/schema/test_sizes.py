"""Every field that a caller fills has a maximum size; what exceeds it is malformed."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

import fourtier.schema
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.conversations import InvocationSummary, UpdateConversationMemoryRequest
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import MAX_ITEMS, Message
from fourtier.schema.topics import Call, Topic

MODULES = [
    importlib.import_module(f"fourtier.schema.{each.name}")
    for each in pkgutil.iter_modules(fourtier.schema.__path__)
]
#: The messages that come in; answers are bounded by whoever makes them.
REQUESTS = {
    payload.__name__: payload
    for module in MODULES
    for declared in vars(module).values()
    if isinstance(declared, Call | Topic)
    for payload in [declared.topic.payload if isinstance(declared, Call) else declared.payload]
}


def unbounded(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Where a JSON schema sets no maximum to a text, a list, a mapping or a number.

    What says nothing of its values, such as metadata, has a maximum that no JSON schema can say.
    """
    limits = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and values.get("$ref") != "#/$defs/JsonValue":
        limits["object"] = "maxProperties"
        yield from unbounded(values, f"{path}{{}}")
        yield from unbounded(schema.get("propertyNames", {"type": "string"}), f"{path} keys")
    limit = limits.get(schema.get("type", ""))
    free = not {"enum", "const", "format"} & schema.keys()
    if limit and limit not in schema and free:
        yield f"{path} has no {limit}"
    for name in ("properties", "$defs"):
        for key, part in schema.get(name, {}).items():
            yield from unbounded(part, f"{path}.{key}")
    if "items" in schema:
        yield from unbounded(schema["items"], f"{path}[]")
    for part in schema.get("anyOf", []):
        yield from unbounded(part, path)


def test_the_messages_of_every_service_are_looked_at() -> None:
    assert {"AgentRequest", "InvocationEnded", "StoreDocumentRequest", "ResearchRequest"} < {
        *REQUESTS
    }
    assert {"EmbedRequest", "CompleteRequest", "OptOutRequest", "EraseRequest"} < {*REQUESTS}
    assert len(MODULES) > 10


@pytest.mark.parametrize("name", REQUESTS)
def test_every_field_of_a_request_has_a_maximum(name: str) -> None:
    assert list(unbounded(REQUESTS[name].model_json_schema(), name)) == []


#: A run finds at most so many facts, entries and episodes each.
MEMORY = {"tier": "facts", "id": "f" * 512, "content": "x"}
FOUND = {"tier": "facts", "id": "f", "shown": "whole", "rank": 1, "score": 0.5}
ENDED = {
    "conversation_id": "c1",
    "run_id": "r1",
    "question": "Hi.",
    "answer": "Hello.",
    "started_at": "2026-03-01T09:00:00Z",
    "ended_at": "2026-03-01T09:00:01Z",
}


def test_a_run_may_use_all_that_the_tiers_find() -> None:
    maximum = 3 * MAX_ITEMS
    used = {"memories": [MEMORY] * maximum, "considered": [FOUND] * maximum}
    event = InvocationEnded.model_validate_json(json.dumps(SCOPE | ENDED | used))
    assert (len(event.memories), len(event.considered)) == (maximum, maximum)


SCOPE = {"user": "ann"}
SUMMARY = {"query": "Hi.", "timestamp": "2026-03-01T09:00:00Z"}
TOO_LARGE = "x" * 2_000_000


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (StoreFactRequest, {"content": TOO_LARGE}, "at most 8000 characters"),
        (StoreFactRequest, {"content": "a", "metadata": {"a": TOO_LARGE}}, "at most 32000 fit"),
        (StoreFactRequest, {"content": "a", "metadata": {TOO_LARGE: 1}}, "at most 32000 fit"),
        (AgentStep, {"arguments": {"a": TOO_LARGE}}, "at most 200000 fit"),
        (InvocationEnded, ENDED | {"memories": [MEMORY] * 10_001}, "at most 10000 items"),
        (InvocationEnded, ENDED | {"considered": [FOUND] * 10_001}, "at most 10000 items"),
        (
            InvocationEnded,
            ENDED | {"considered": [FOUND | {"legs": {"l" * 65: {"rank": 1, "score": 1}}}]},
            "at most 64 characters",
        ),
        (
            InvocationEnded,
            ENDED | {"memories": [MEMORY | {"content": TOO_LARGE}]},
            "at most 200000 characters",
        ),
        (InvocationSummary, SUMMARY | {"query": TOO_LARGE}, "at most 200000 characters"),
        (
            UpdateConversationMemoryRequest,
            {"conversation_id": "c1", "invocation_summary": SUMMARY | {"result": TOO_LARGE}},
            "at most 200000 characters",
        ),
    ],
)
def test_two_megabytes_in_a_field_are_malformed(
    model: type[Message], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        model.model_validate_json(json.dumps(SCOPE | fields))
