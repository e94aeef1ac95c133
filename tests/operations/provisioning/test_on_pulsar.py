"""What a flow needs, made on a real Pulsar."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from fourtier.flows.model import read_flow
from fourtier.flows.provisioning import bus_needs
from fourtier.runtime.bus.contract import Address, Mode
from fourtier.runtime.bus.pulsar.admin import AdminConfig
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.bus.pulsar.policies import RetentionPolicy
from fourtier.runtime.bus.pulsar.provisioning import BusNeeds, provision_bus
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.registry import declared_handlers
from fourtier.schema.topics import Topic
from tests.cluster.servers import SERVERS

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        not SERVERS.pulsar_admin_url, reason="FOURTIER_TEST_PULSAR_ADMIN_URL names no Pulsar"
    ),
]

ADMIN = SERVERS.pulsar_admin_url or ""


@pytest.fixture
def needs() -> BusNeeds:
    """Those of the shipped flow, in a tenant of its own."""
    return replace(bus_needs(read_flow("cluster")), tenant=f"test-{uuid4().hex[:8]}")


@pytest.fixture
async def raw() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(f"{ADMIN}/admin/v2/", raise_for_status=True) as session:
        yield session


async def plan(needs: BusNeeds) -> Sequence[Step]:
    async with provision_bus(AdminConfig(ADMIN), needs) as provisioner:
        return await provisioner.plan()


async def init(needs: BusNeeds) -> list[Step]:
    """Plan and do; the steps that were to be done."""
    async with provision_bus(AdminConfig(ADMIN), needs) as provisioner:
        steps = [step for step in await provisioner.plan() if step.act]
        for step in steps:
            assert step.act is not None
            await step.act()
    return steps


async def read(raw: aiohttp.ClientSession, *path: str) -> Any:
    async with raw.get("/".join(path)) as answer:
        return await answer.json()


async def test_everything_is_made_and_a_repetition_changes_nothing(
    needs: BusNeeds, raw: aiohttp.ClientSession
) -> None:
    assert {step.state for step in await plan(needs)} == {State.MISSING}
    assert len(await init(needs)) > 20
    assert {step.state for step in await plan(needs)} == {State.THERE}
    assert await init(needs) == []

    namespace = f"{needs.tenant}/{needs.namespace}"
    topics = {
        topic.rpartition("/")[2]
        for topic in await read(raw, "persistent", namespace)
        if not topic.rpartition("/")[2].startswith("__")
    }
    persistent = {topic.name for topic in topics_of_the_flow() if topic.persistent}
    assert persistent <= topics
    assert topics - persistent == set(needs.dead_letters)
    assert await groups(raw, namespace, "facts.store") == ["facts"]
    hearing = ["archive", "conversations", "extraction"]
    assert await groups(raw, namespace, "invocation.ended") == hearing
    assert await groups(raw, namespace, "page.closed") == ["memoriser"]
    assert await groups(raw, namespace, "dead-letters.agent") == ["operator"]


def topics_of_the_flow() -> list[Topic[Any]]:
    """Those of its services; others are installed, too."""
    return [handler.topic for _, handler in declared_handlers(list(read_flow("cluster").services))]


async def groups(raw: aiohttp.ClientSession, namespace: str, topic: str) -> list[str]:
    return sorted(await read(raw, "persistent", namespace, topic, "subscriptions"))


async def test_policies_are_as_the_flow_says(needs: BusNeeds, raw: aiohttp.ClientSession) -> None:
    await init(needs)
    namespace = f"{needs.tenant}/{needs.namespace}"
    set_ = await read(raw, "namespaces", namespace)
    assert set_["message_ttl_in_seconds"] == 30 * 86_400
    assert set_["retention_policies"] == {
        "retentionTimeInMinutes": 24 * 60,
        "retentionSizeInMB": 2_048,
    }
    quota = set_["backlog_quota_map"]["destination_storage"]
    assert (quota["limitSize"], quota["policy"]) == (1024**3, "producer_exception")
    dead = await read(raw, "persistent", namespace, "dead-letters.facts", "messageTTL")
    assert dead == 90 * 86_400


@pytest.mark.parametrize(
    "retention",
    [
        RetentionPolicy(backlog_megabytes=10, retention_megabytes=20, message_ttl_days=1),
        RetentionPolicy(backlog_megabytes=10_000, retention_megabytes=20_000),
        RetentionPolicy(backlog_megabytes=10_000, retention_hours=0, dead_letter_ttl_days=0),
    ],
)
async def test_another_flow_file_changes_the_policies_there_and_back(
    needs: BusNeeds, retention: RetentionPolicy
) -> None:
    small = replace(needs, groups={}, dead_letters={"dead-letters.facts": ["operator"]})
    await init(small)
    for wanted in (replace(small, retention=retention), small):
        changed = await init(wanted)
        assert changed
        assert {step.state for step in changed} == {State.DIFFERENT}
        assert {step.state for step in await plan(wanted)} == {State.THERE}


async def test_two_at_once_do_no_harm(needs: BusNeeds) -> None:
    await asyncio.gather(init(needs), init(needs))
    assert {step.state for step in await plan(needs)} == {State.THERE}


async def test_a_service_that_joins_the_flow_gets_its_groups(needs: BusNeeds) -> None:
    before = replace(needs, groups={"invocation.ended": ["conversations"]}, dead_letters={})
    await init(before)
    joined = replace(
        needs, groups={"invocation.ended": ["conversations", "extraction"]}, dead_letters={}
    )
    (step,) = await init(joined)
    assert "without extraction" in step.note


async def test_what_is_published_before_the_first_consumer_is_stored(
    needs: BusNeeds, raw: aiohttp.ClientSession
) -> None:
    await init(needs)
    url, namespace = SERVERS.pulsar_url or "", (needs.tenant, needs.namespace)
    address = Address("facts.store")
    async with connect_pulsar(
        url, *namespace, security=PulsarSecurity(), log_file="/dev/null"
    ) as bus:
        await bus.publish(address, b"early")
        stats = await read(raw, "persistent", *namespace, address.name, "stats")
        assert stats["subscriptions"]["facts"]["msgBacklog"] == 1
        async with bus.subscribe(address, "facts", Mode.KEY_SHARED) as subscription:
            delivery = await subscription.receive()
            assert delivery.payload == b"early"
            await delivery.acknowledge()
