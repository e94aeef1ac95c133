"""A request id that a client chooses names one question of one user, and never mixes answers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path

import pytest

from fourtier.client import Client, Reply, client_on
from tests.agents.react_mem.test_agent import ALL
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, scripted_model


def echo(request: ModelRequest) -> Says:
    return Says(f"You asked: {request.last.splitlines()[-1]}")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Client]:
    async with (
        scripted_model(script=echo) as model,
        running_flow(tmp_path, ALL, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        yield client


async def together(*asked: Awaitable[Reply]) -> list[Reply]:
    async with asyncio.timeout(60):
        return await asyncio.gather(*asked)


async def test_two_users_with_one_request_id_get_their_own_answers(client: Client) -> None:
    ann, bob = await together(
        client.answer("Who is Ann?", user="ann", request_id="1"),
        client.answer("Who is Bob?", user="bob", request_id="1"),
    )
    assert "Who is Ann?" in ann.answer
    assert "Who is Bob?" in bob.answer


async def test_one_question_that_is_asked_twice_at_once_gets_one_answer(client: Client) -> None:
    first, second = await together(
        client.answer("Who is Ann?", user="ann", request_id="1"),
        client.answer("Who is Ann?", user="ann", request_id="1"),
    )
    assert first.answer == second.answer
    assert "Who is Ann?" in first.answer
    assert first.metadata.run_id == second.metadata.run_id


@pytest.mark.parametrize("conversation", ["", "c1"])
async def test_another_question_with_a_used_request_id_is_an_error(
    client: Client, conversation: str
) -> None:
    first, second = await together(
        client.answer("Who is Ann?", user="ann", request_id="1", conversation_id=conversation),
        client.answer("Who is Bob?", user="ann", request_id="1", conversation_id=conversation),
    )
    later = await client.answer("Who is Eve?", user="ann", request_id="1")
    assert "Who is Ann?" in first.answer
    for other in (second, later):
        assert other.error == "request-id-used"
        assert "'1'" in other.reason
        assert other.answer == ""
