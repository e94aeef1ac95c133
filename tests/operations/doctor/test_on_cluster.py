"""`fourtier doctor` on a real Pulsar and a real Neo4j, with something wrong on each."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest
import yaml

from fourtier.client import client_on
from fourtier.flows.model import read_flow
from fourtier.flows.plan import bus_config, host_plan
from fourtier.flows.provisioning import bus_needs, provisioners
from fourtier.operations.backlogs import read_queues
from fourtier.operations.doctor.diagnosis import diagnose
from fourtier.operations.doctor.findings import Finding
from fourtier.runtime.bus.contract import Address, Bus, Mode
from fourtier.runtime.bus.opening import open_bus
from fourtier.runtime.bus.pulsar.admin import AdminConfig
from fourtier.runtime.process.host import run_services
from fourtier.runtime.settings import Settings
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Scope
from fourtier.schema.status import status_of
from tests.cluster.flows import empty_graph
from tests.cluster.pulsar_admin import create_namespace
from tests.cluster.servers import SERVERS
from tests.support.environment import short_deadline

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        not (SERVERS.pulsar_admin_url and SERVERS.neo4j_url),
        reason="FOURTIER_TEST_PULSAR_ADMIN_URL and FOURTIER_TEST_NEO4J_URL name no servers",
    ),
    pytest.mark.timeout(300),
]

SERVICES = ("embeddings", "facts", "conversations", "extraction")
SETTINGS = Settings(data=None)


@pytest.fixture
async def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A flow in a tenant of its own, whose time limits hold on a busy machine."""
    await empty_graph()
    monkeypatch.setattr("fourtier.operations.doctor.findings._WITHIN", 60)
    monkeypatch.setattr("fourtier.runtime.service.status._COUNT_TIMEOUT", 60)
    file = tmp_path / "shop.yaml"
    content = {
        "name": "shop",
        "tenant": f"test-{uuid4().hex[:8]}",
        "namespace": "doctor",
        "bus": {"url": SERVERS.pulsar_url, "admin-url": SERVERS.pulsar_admin_url},
        "engines": {"graph": SERVERS.neo4j_url, "vectors": "embedded"},
        "services": {name: {} for name in SERVICES},
    }
    file.write_text(yaml.safe_dump(content), "utf-8")
    return str(file)


@contextmanager
def away(*services: str) -> Generator[None]:
    """Do not wait long for the status of services that do not run."""
    with ExitStack() as stack:
        for service in services:
            stack.enter_context(short_deadline(status_of(service), 1.0))
        yield


async def init(flow: str) -> None:
    async with provisioners(read_flow(flow), SETTINGS) as servers:
        for server in servers:
            for step in await server.plan():
                if step.act is not None:
                    await step.act()


@asynccontextmanager
async def serving(flow: str, data: Path, services: Sequence[str]) -> AsyncGenerator[Bus]:
    """Some services of the flow, as `fourtier serve` runs them."""
    read, settings = read_flow(flow), Settings(data=data)
    async with open_bus(bus_config(read, settings)) as (bus, _):
        if not services:
            yield bus
            return
        async with run_services(bus, host_plan(read, settings, services)):
            yield bus


async def doctor(flow: str, old_after: float = 300) -> dict[str, Finding]:
    return {finding.what: finding for finding in await diagnose(flow, old_after)}


def problems(findings: dict[str, Finding]) -> set[str]:
    assert all(each.remedy for each in findings.values() if not each.well)
    return {each.what for each in findings.values() if not each.well}


async def test_a_flow_that_runs_is_well(flow: str, tmp_path: Path) -> None:
    await init(flow)
    async with (
        serving(flow, tmp_path / "one", SERVICES) as bus,
        serving(flow, tmp_path / "two", ["extraction"]),
        client_on(bus) as client,
    ):
        await client.facts.store(Scope("ann", "default"), "I live in Oslo.")
        found = await doctor(flow)
        while "1 message waits" in str(found):  # what is answered is acknowledged a moment later
            found = await doctor(flow)
        elsewhere = await doctor(from_elsewhere(flow))

    assert problems(found) == set(), found
    assert "Pulsar 4." in found["bus"].found
    assert "Neo4j 5." in found["graph"].found
    assert "1 facts in the vectors" in found["stores of facts"].found
    assert "2 replicas" in found["extraction"].found
    # conversations 7, facts 5, extraction 2
    assert found["queues"].found == "nothing waits in 11 of 11"
    assert found["dead letters"].found == "none of 4 services"
    assert elsewhere["graph"].found.startswith("its services reach it. Not from here: the graph at")
    assert problems(elsewhere) == set()


def from_elsewhere(flow: str) -> str:
    """The flow as it is seen from where its graph cannot be reached."""
    file = Path(flow).with_name("elsewhere.yaml")
    file.write_text(
        Path(flow).read_text("utf-8").replace(str(SERVERS.neo4j_url), "bolt://127.0.0.1:9")
    )
    return str(file)


async def test_before_init_everything_is_missing(flow: str) -> None:
    found = await doctor(flow)
    assert problems(found) == {"bus", "missing queues"}
    assert "all 15" in found["missing queues"].found
    assert f"fourtier init {flow}" in found["missing queues"].remedy
    assert "Namespace not found" in found["bus"].found


async def test_what_is_wrong_on_the_bus_is_reported(flow: str, tmp_path: Path) -> None:
    await init(flow)
    others = [name for name in SERVICES if name != "facts"]
    async with serving(flow, tmp_path, others) as bus, client_on(bus) as client:
        for number in range(3):
            request = StoreFactRequest(user="ann", content=f"My number is {number}.")
            await client.caller.publish(STORE_FACT.topic, request)
        await bus.publish(Address("dialogue.recorded"), b"{}", key="k")
        await unsubscribe(flow, "dead-letters.facts", "operator")
        with away("facts"):
            found = await doctor(flow)

    assert problems(found) == {
        "facts",
        "facts.store for facts",
        "queues without replicas",
        "missing queues",
        "dead letters of conversations",
        "dead letters of extraction",
    }
    assert found["facts.store for facts"].found.startswith("3 messages wait, the oldest for ")
    assert "nobody takes them" in found["facts.store for facts"].found
    assert "dead-letters.facts for operator" in found["missing queues"].found
    assert "malformed" in found["dead letters of extraction"].found
    assert await groups(flow, "dead-letters.facts") == []  # the doctor changes nothing


async def test_a_message_that_is_held_for_long_is_reported(flow: str, tmp_path: Path) -> None:
    await init(flow)
    address = Address("facts.store")
    async with serving(flow, tmp_path, ()) as bus:
        await bus.publish(address, b"{}", key="k")
        async with bus.subscribe(address, "facts", Mode.KEY_SHARED) as subscription:
            await subscription.receive()
            with away(*SERVICES):
                soon, late = await doctor(flow), await doctor(flow, old_after=0.001)

    assert "facts.store for facts" not in problems(soon)
    assert soon["facts.store for facts"].found.startswith("1 message waits, the oldest for ")
    assert "that is long" in late["facts.store for facts"].found


async def test_a_partitioned_topic_counts_as_one(flow: str) -> None:
    read = read_flow(flow)
    admin = SERVERS.pulsar_admin_url or ""
    await create_namespace(admin, read.tenant, read.namespace)
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        await session.put(f"{topic_url(flow, 'facts.store')}/partitions", json=2)
        earliest = {"ledgerId": -1, "entryId": -1, "partitionIndex": -1}
        await session.put(f"{topic_url(flow, 'facts.store')}/subscription/facts", json=earliest)
    needs = replace(bus_needs(read), groups={"facts.store": ["facts"]}, dead_letters={})
    (queue,) = await read_queues(AdminConfig(admin), needs)
    assert (queue.exists, queue.messages) == (True, 0)


async def unsubscribe(flow: str, topic: str, group: str) -> None:
    async with (
        aiohttp.ClientSession(raise_for_status=True) as session,
        session.delete(f"{topic_url(flow, topic)}/subscription/{group}"),
    ):
        pass


async def groups(flow: str, topic: str) -> list[str]:
    async with (
        aiohttp.ClientSession(raise_for_status=True) as session,
        session.get(f"{topic_url(flow, topic)}/subscriptions") as answer,
    ):
        return await answer.json()


def topic_url(flow: str, topic: str) -> str:
    read = read_flow(flow)
    return f"{SERVERS.pulsar_admin_url}/admin/v2/persistent/{read.tenant}/{read.namespace}/{topic}"
