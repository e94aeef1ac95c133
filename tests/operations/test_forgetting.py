"""Dead letters about what is forgotten are removed, others stay, and a replay stores nothing."""

import json
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.operations.dead_letters import list_dead_letters, replay_dead_letters
from fourtier.operations.forgetting import about_facts, forget_dead_letters
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from fourtier.schema.agent import INVOCATION_ENDED, InvocationEnded
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.facts import STORE_FACT, Fact, StoreFactRequest
from fourtier.schema.message import Scope
from tests.cluster.flows import flow_target
from tests.cluster.servers import SERVERS
from tests.forgetting.bytes import canary, find
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SERVICES = ["facts", "conversations", "extraction"]
ASKED: dict[str, Any] = {"user": "ann", "conversation_id": "c1", "run_id": "r1", "question": "A."}
LETTERS: dict[str, tuple[str, Any]] = {
    "run": ("extraction", ASKED),
    "other run": ("extraction", ASKED | {"run_id": "r2"}),
    "record": ("conversations", ASKED | {"question": "I hide in the Forest!"}),
    "fact": ("facts", {"user": "ann", "collection": "default", "content": "I like tea."}),
    "learned": ("facts", {"user": "ann", "source": "c1", "invocation_id": "r2", "content": "B."}),
    "in metadata": ("facts", {"user": "ann", "content": "C", "metadata": {"x": ["the forest"]}}),
    "document": ("facts", {"user": "ann", "document": "c1", "blocks": ["Read."]}),
    "other document": (
        "facts",
        {"user": "ann", "document": "d2", "blocks": ["A.", "By the forest"]},
    ),
    "other collection": ("facts", {"user": "ann", "collection": "work", "content": "the forest"}),
    "other user": ("facts", {"user": "bob", "source": "c1", "content": "the forest"}),
    "malformed": ("facts", "{forest"),
    "nobody's": ("facts", "{the forest"),
    "nobody's at all": ("facts", {"texts": ["something"]}),
}


PULSAR = pytest.param(
    SERVERS.pulsar_url,
    marks=[
        pytest.mark.cluster,
        pytest.mark.skipif(not SERVERS.pulsar_url, reason="FOURTIER_TEST_PULSAR_URL is not set"),
    ],
    id="pulsar",
)


@pytest.fixture(params=["memory://", "embedded", PULSAR])
async def bus(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bus]:
    target = await flow_target(tmp_path, request.param, "letters", {})
    url = request.param if request.param in {"memory://", "embedded"} else target.bus
    async with open_bus(BusConfig(url, "fourtier", target.namespace, tmp_path, 0)) as (bus, _):
        for service in SERVICES:
            await bus.create_group(dead_letter_address(service), "operator")
        yield bus


async def put(bus: Bus, letters: Mapping[str, tuple[str, Any]]) -> None:
    for name, (service, content) in letters.items():
        payload = content if isinstance(content, str) else json.dumps(content)
        properties = {"id": name, "dead-topic": "t", "dead-error": "permanent: no"}
        if name == "malformed":
            properties |= {"user": "ann", "collection": "default"}
        await bus.publish(dead_letter_address(service), payload.encode(), properties=properties)


async def left(bus: Bus) -> set[str]:
    return {each.id for name in SERVICES for each in await list_dead_letters(bus, name)}


@pytest.mark.parametrize(
    ("selected", "gone", "unknown"),
    [
        ({"conversation_id": "c1"}, {"run", "other run", "record", "learned"}, 2),
        (
            {"conversation_id": "c1", "invocation_ids": ("r2",)},
            {"other run", "learned"},
            2,
        ),
        ({"ids": ("r1",)}, {"run", "record"}, 2),
        ({"document": "c1"}, {"document"}, 2),
        (
            {"containing": ("the forest",)},
            {"record", "in metadata", "other document", "nobody's"},
            1,
        ),
        (
            {"containing": ("forest",)},
            {"record", "in metadata", "other document", "nobody's", "malformed"},
            1,
        ),
        (
            {"everything": True},
            {
                *{"run", "other run", "record", "fact", "learned", "in metadata", "malformed"},
                *{"document", "other document"},
            },
            2,
        ),
        ({"ids": ("r7",)}, set(), 2),
    ],
)
async def test_what_is_about_it_goes_and_nothing_else(
    bus: Bus, selected: dict[str, Any], gone: set[str], unknown: int
) -> None:
    await put(bus, LETTERS)
    request = EraseRequest(user="ann", **selected)
    dry = request.model_copy(update={"dry_run": True})

    would = await forget_dead_letters(bus, SERVICES, dry)
    assert await left(bus) == set(LETTERS)
    done = await forget_dead_letters(bus, SERVICES, request)

    assert set(LETTERS) - await left(bus) == gone
    assert (done.removed, done.unknown) == (len(gone), unknown)
    assert would == done


def test_a_fact_is_known_by_its_exchange_and_its_words() -> None:
    fact = Fact(
        id="f1", content="I hide.", quote="Well, I hide.", source="c1", invocation_id="r1",
        timestamp=NOON, valid_from=NOON,
    )  # fmt: skip
    request = about_facts(ANN, [fact, fact], "f2")
    assert request.ids == ("f1", "r1", "f2")
    assert request.containing == ("I hide.", "Well, I hide.")


async def test_a_replayed_dead_letter_of_what_was_forgotten_is_not_stored(tmp_path: Path) -> None:
    """As where nobody removed it: it was sent before, and stays rejected."""
    async with (
        scripted_model() as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        sent = str(int((datetime.now(UTC) - timedelta(hours=1)).timestamp() * 1_000_000))
        reported = StoreFactRequest(user="ann", content="I hide in the forest.", source="c1")
        asked = InvocationEnded(
            user="ann", conversation_id="c1", run_id="r1", question="I hide in the wood.",
            answer="Fine.", started_at=datetime.now(UTC), ended_at=datetime.now(UTC),
        )  # fmt: skip
        for service, topic, message in (
            ("facts", STORE_FACT.topic, reported),
            ("conversations", INVOCATION_ENDED, asked),
        ):
            await flow.bus.publish(
                dead_letter_address(service),
                message.model_dump_json().encode(),
                key="k",
                properties={"id": service, "dead-topic": topic.name, "sent-at": sent},
            )
        await client.forget.conversation(ANN, "c1")
        for service in ("facts", "conversations"):
            assert await replay_dead_letters(flow.bus, service) == 1
        await client.facts.store(ANN, "The marker.")

        async def handled() -> bool:
            return (await client.facts.list(ANN)).total == 1

        await wait_until(handled)
        assert (await client.facts.list(ANN)).facts[0].content == "The marker."
        assert (await client.conversations.list(ANN)).total == 0


async def test_no_byte_of_a_removed_dead_letter_is_on_the_disk_of_the_embedded_bus(
    tmp_path: Path,
) -> None:
    word, other = canary(), canary()
    config = BusConfig("embedded", "fourtier", "test", tmp_path, 0)
    async with open_bus(config) as (bus, _):
        await put(bus, {"a": ("facts", {"user": "ann", "content": word})})
        await put(bus, {"b": ("facts", {"user": "bob", "content": other})})
        assert {each.canary for each in find(tmp_path, [word, other])} == {word, other}
        request = EraseRequest(user="ann", everything=True)
        assert (await forget_dead_letters(bus, ["facts"], request)).removed == 1
    assert {each.canary for each in find(tmp_path, [word, other])} == {other}
