"""`fourtier facts add`: what became of the fact."""

import pytest

from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.facts import STORE_FACT, StoreFactRequest, StoreFactResponse
from fourtier.schema.message import NotStored
from tests.interfaces.cli.support import Command


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("forgotten", "it was forgotten after it was said"),
        ("opted-out", "fourtier opt-in"),
        ("expired", "longer ago than the flow keeps facts"),
        ("evicted", "the memory of this user is full"),
    ],
)
def test_a_fact_that_is_not_stored_is_said_to_be_not(
    fourtier: Command, reason: NotStored, said: str
) -> None:
    async def answer(request: StoreFactRequest) -> StoreFactResponse:
        assert request.content == "I live in Oslo"
        return StoreFactResponse(fact_id="f1", created=False, not_stored=reason)

    fourtier.routes = [call_route(STORE_FACT, answer)]
    assert fourtier("facts", "add", "I live in Oslo", "--user", "ann") == 1
    assert "not remembered" in fourtier.said
    assert said in fourtier.said
    assert "Known already" not in fourtier.said


@pytest.mark.parametrize("blank", [" ", "\u200b", "\n"])
def test_a_blank_fact_is_refused(fourtier: Command, blank: str) -> None:
    assert fourtier("facts", "add", blank, "--user", "ann") == 2
    assert "content: the text is blank" in fourtier.said


def test_a_user_with_what_nobody_sees_is_refused(fourtier: Command) -> None:
    assert fourtier("facts", "add", "x", "--user", "ann\u200b") == 2
    assert "U+200B ZERO WIDTH SPACE" in fourtier.said
