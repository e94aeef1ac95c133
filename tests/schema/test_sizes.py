"""Every field that a caller fills has a maximum size; what exceeds it is malformed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from fourtier.schema import conversations, episodes, facts, working_memory
from fourtier.schema.conversations import InvocationSummary, UpdateConversationMemoryRequest
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Message
from fourtier.schema.topics import Call, Topic

#: The messages that come in; answers are bounded by whoever makes them.
REQUESTS = {
    payload.__name__: payload
    for module in (conversations, episodes, facts, working_memory)
    for declared in vars(module).values()
    if isinstance(declared, Call | Topic)
    for payload in [declared.topic.payload if isinstance(declared, Call) else declared.payload]
}


def unbounded(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Where a JSON schema sets no maximum to a text, a list or a number."""
    limits = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}
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


@pytest.mark.parametrize("name", REQUESTS)
def test_every_field_of_a_request_has_a_maximum(name: str) -> None:
    assert list(unbounded(REQUESTS[name].model_json_schema(), name)) == []


SCOPE = {"user": "ann"}
SUMMARY = {"query": "Hi.", "timestamp": "2026-03-01T09:00:00Z"}
TOO_LARGE = "x" * 2_000_000


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (StoreFactRequest, {"content": TOO_LARGE}, "at most 8000 characters"),
        (StoreFactRequest, {"content": "a", "metadata": {"a": TOO_LARGE}}, "at most 32000 fit"),
        (StoreFactRequest, {"content": "a", "metadata": {TOO_LARGE: 1}}, "at most 32000 fit"),
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
