"""Questions of two megabytes: each is rejected with the reason, and nobody and nothing suffers."""

import asyncio
import os
from pathlib import Path

import pytest

from fourtier.client import client_on
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.embedded.storage.entry_logs import database_in
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import ModelRequest, Says, scripted_model
from tests.support.usage import resident_mib

pytestmark = [pytest.mark.slow, pytest.mark.embedded]

#: As it was found: one such line became 170,000 facts.
TWO_MEGABYTES = "I like tea. " * 170_000
QUESTIONS = 24
MEGABYTE = 1_000_000
#: Each is on the disk as a request, and again as a dead letter: 98 MB in all. Of dead letters 32 MB
#: stay (`dead-letter-megabytes`); what comes then is removed before it is as much again.
MAX_DISK, DISK_IN_THE_END = 80 * MEGABYTE, 36 * MEGABYTE
#: MiB by which the process with all services may grow after the first quarter of the questions.
MAY_GROW_BY = 48


def disk(data: Path) -> int:
    """Bytes of the bus's messages."""
    size = 0
    for path in database_in(data / "bus").rglob("*.log"):
        try:
            size += path.stat().st_size
        except FileNotFoundError:  # it has just been removed
            continue
    return size


async def ask_too_much(bus: Bus, number: int) -> str:
    """Ask as a client that does not check what it sends; why it is rejected."""
    request = AgentRequest.model_construct(
        question=TWO_MEGABYTES,
        user="mallory",
        collection="default",
        conversation_id=f"c{number}",
        enable_memory=True,
    )
    async with open_caller(bus) as caller:
        with pytest.raises(CallFailedError) as error:
            async for _ in caller.stream(AGENT_REQUEST, request):
                pass
    assert error.value.type == "malformed"
    return str(error.value)


def hello(_request: ModelRequest) -> Says:
    return Says("Hello, Bob.")


@pytest.mark.timeout(300)
async def test_many_questions_of_two_megabytes_harm_nobody(tmp_path: Path) -> None:
    largest, resident = 0, list[int]()
    async with (
        scripted_model(script=hello) as model,
        running_flow(tmp_path, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        for number in range(QUESTIONS):
            rejecting = asyncio.create_task(ask_too_much(flow.bus, number))
            reply = await client.answer("Are you there?", user="bob")
            assert reply.answer == "Hello, Bob."
            rejected = await rejecting
            assert "question: " in rejected
            assert "200000 characters" in rejected
            assert len(rejected) < 300
            largest = max(largest, disk(tmp_path))
            resident.append(resident_mib(os.getpid()))
        assert all(TWO_MEGABYTES[:60] not in request.text for request in model.requests)
        assert (await client.facts.list(Scope("mallory", "default"))).total == 0
        assert (await client.conversations.list(Scope("mallory", "default"))).conversations == ()
    assert largest < MAX_DISK
    assert disk(tmp_path) < DISK_IN_THE_END
    assert max(resident) - max(resident[: QUESTIONS // 4]) < MAY_GROW_BY
