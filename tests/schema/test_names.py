"""Names that look alike are one name, unseen ones are refused, and texts stay as they are."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from fourtier.client import Client, InvalidRequestError, client_on
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.agent import AgentRequest
from fourtier.schema.conversations import (
    END_CONVERSATION,
    DialogueTurn,
    EndConversationRequest,
    EndConversationResponse,
)
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Identifier, Scope, Scoped
from fourtier.schema.opt_out import OptOutRequest
from tests.runtime.rpc.support import served

COMPOSED, DECOMPOSED = "Zo\u00eb", "Zoe\u0308"
SAME = [
    (DECOMPOSED, COMPOSED),
    ("ann ", "ann"),
    ("\tann\n", "ann"),
    ("\u3000ann\u00a0", "ann"),
    ("ann\u00a0lee", "ann lee"),
    (" \u5c71\u7530\u3000\u592a\u90ce", "\u5c71\u7530 \u592a\u90ce"),
    ("ann@example.com/+1", "ann@example.com/+1"),
]
UNSEEN = [
    "",
    " ",
    "\u200b",
    "ann\u200b",
    "\ufeffann",
    "a\u200dnn",
    "a\u2060nn",
    "ann\u00ad",
    "ann\u3164",
    "ann\u202e",
    "ann\x00",
    "a\nb",
    "a\x1b[2J",
    "ann\ufe0f",
    "a\u034fnn",
    "ann\U000e0041",
    "ann\ud800",
    "\u2800",
]


def of_user(name: str) -> dict[str, Any]:
    return {"user": name, "collection": name, "conversation_id": name}


@pytest.mark.parametrize(("typed", "meant"), SAME)
def test_names_that_look_alike_are_one(typed: str, meant: str) -> None:
    request = EndConversationRequest(**of_user(typed))
    assert request == EndConversationRequest(**of_user(meant))
    assert request.scope == Scope(meant, meant)
    assert AgentRequest(question="x", **of_user(typed)).conversation_id == meant
    assert EraseRequest(**of_user(typed)).conversation_id == meant
    assert OptOutRequest(user=typed).user == meant
    assert PrivacyPolicy(opted_out_users=frozenset({typed})).opted_out_users == {meant}
    assert Scoped.model_validate_json(Scoped(user=meant).model_dump_json()).user == meant


@pytest.mark.parametrize("name", UNSEEN)
def test_names_with_what_nobody_sees_are_refused(name: str) -> None:
    for field in ("user", "collection", "conversation_id"):
        with pytest.raises(ValidationError, match=field):
            EndConversationRequest(**(of_user("ann") | {field: name}))
    with pytest.raises(ValidationError):
        OptOutRequest(user=name)
    with pytest.raises(ValidationError):
        TypeAdapter(Identifier).validate_python(name)


def test_a_name_that_is_too_long_once_it_is_composed_is_refused() -> None:
    with pytest.raises(ValidationError, match="512"):
        Scoped(user="\u0958" * 300)


@pytest.mark.parametrize(
    "blank", [" ", "\n\t", "\u200b", "\u200b \ufeff", "\u3164", "\x00", "\u2800"]
)
def test_a_blank_text_is_refused(blank: str) -> None:
    with pytest.raises(ValidationError, match="blank"):
        StoreFactRequest(user="ann", content=blank)
    with pytest.raises(ValidationError, match="blank"):
        AgentRequest(user="ann", question=blank)
    turn = {"speaker": "Ann", "turn_id": "1", "timestamp": "2026-03-01T10:00:00Z"}
    with pytest.raises(ValidationError, match="blank"):
        DialogueTurn.model_validate_json(
            TypeAdapter(dict[str, str]).dump_json(of_user("ann") | turn | {"content": blank})
        )


@pytest.mark.parametrize(
    "text",
    [
        " x ",
        DECOMPOSED,
        "\U0001f469\u200d\U0001f52c\ufe0f",
        "a\u200bb",
        "\tif x:\r\n\x00",
        "\u2764\ufe0f",
        "\u0301",
    ],
)
def test_a_text_stays_as_it_was_given(text: str) -> None:
    assert StoreFactRequest(user="ann", content=text).content == text


async def test_a_client_says_what_is_wrong_with_a_name_or_a_text() -> None:
    asked: list[Scope] = []

    async def end(request: EndConversationRequest) -> EndConversationResponse:
        asked.append(request.scope)
        return EndConversationResponse(ended=True)

    async def store(client: Client, user: str, content: str) -> None:
        await client.facts.store(Scope(user, "default"), content)

    bus = MemoryBus()
    async with (
        served(bus, call_route(END_CONVERSATION, end)),
        client_on(bus) as client,
    ):
        for user in (COMPOSED, DECOMPOSED, f" {DECOMPOSED} "):
            await client.conversations.end(Scope(user, "default"), "c1")
        with pytest.raises(InvalidRequestError, match=r"content: .*blank"):
            await store(client, "ann", "\u200b")
        with pytest.raises(InvalidRequestError, match=r"user: .*U\+200B ZERO WIDTH SPACE"):
            await store(client, "ann\u200b", "x")
    assert asked == [Scope(COMPOSED, "default")] * 3
