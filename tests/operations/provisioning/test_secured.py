"""A flow on servers that let nobody in without a secret, over TLS with an authority of our own."""

import asyncio
import json
import os
import re
import ssl
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fourtier.flows.model import Flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.bus.contract import (
    Address,
    BusError,
    Mode,
    RejectedByBusError,
    Subscription,
)
from fourtier.runtime.bus.pulsar.connection import (
    PulsarBus,
    PulsarSecurity,
    Timeouts,
    connect_pulsar,
)
from fourtier.runtime.process.host import HostPlan, run_services
from fourtier.runtime.settings import Settings
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse
from tests.cluster.servers import SERVERS
from tests.operations.provisioning.secured import PASSWORD, Secured, secured_engines, token
from tests.support.model import Says, ScriptedModel, scripted_model
from tests.support.process import FOURTIER

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(
        not SERVERS.pulsar_admin_url, reason="FOURTIER_TEST_PULSAR_ADMIN_URL names no Pulsar"
    ),
    pytest.mark.timeout(400),
]

FLOW = """
name: shop
tenant: acme
namespace: prod
bus: {{url: "{bus_url}", admin-url: "{admin_url}"}}
engines: {{graph: "{graph_url}"}}
services: {{facts: {{}}, conversations: {{}}}}
"""
WRONG_TOKEN = token("admin", b"another key of 32 bytes, no good")
WRONG_PASSWORD = "wr0ng-passw0rd"  # noqa: S105 - as it says
Command = Callable[..., Coroutine[Any, Any, tuple[int, str]]]


def command_on(engines: Secured, directory: Path) -> Command:
    """A command with the right secrets in files, unless the environment says otherwise."""
    flow, secrets = directory / "shop.yaml", directory / "secrets"
    flow.write_text(FLOW.format(**vars(engines)))
    secrets.mkdir()
    (secrets / "fourtier_bus_token").write_text(token("admin"))
    (secrets / "fourtier_graph_password").write_text(f"{PASSWORD}\n")
    usual = os.environ | {
        "COLUMNS": "200",
        "FOURTIER_SECRETS": str(secrets),
        "FOURTIER_GRAPH_USER": "neo4j",
        "FOURTIER_BUS_TRUST_CERTIFICATES": str(engines.certificate),
        "FOURTIER_GRAPH_TRUST_CERTIFICATES": str(engines.certificate),
    }

    async def run(*arguments: str, **environment: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            FOURTIER,
            *arguments,
            str(flow),
            env=usual | environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said = (await process.communicate())[0].decode()
        for secret in (token("admin"), WRONG_TOKEN, PASSWORD, WRONG_PASSWORD):
            assert secret not in said
        return process.returncode or 0, said

    return run


async def test_servers_that_want_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with secured_engines(tmp_path) as engines:
        command = command_on(engines, tmp_path)
        init = partial(command, "init")

        wrong = {
            "rejects GET namespaces/acme/prod": {"FOURTIER_BUS_TOKEN": WRONG_TOKEN},
            "of a role that may administer": {"FOURTIER_BUS_TOKEN": token("nobody")},
            "certificate verify failed": {"FOURTIER_BUS_TRUST_CERTIFICATES": ""},
            "rejects user and password": {"FOURTIER_GRAPH_PASSWORD": WRONG_PASSWORD},
            f"{engines.graph_url} cannot be used": {"FOURTIER_GRAPH_TRUST_CERTIFICATES": ""},
        }
        for expected, environment in wrong.items():
            code, said = await init(**environment)
            assert (code, expected in said, said.count("\n")) == (2, True, 1), said

        code, said = await init()
        assert code == 0, said
        assert " made, 1 is there." in said
        code, said = await init(
            FOURTIER_GRAPH_URL=engines.graph_url.replace("bolt://", "bolt+s://")
        )
        assert code == 0, said
        assert re.search(r"^\d+ is there\.$", said, re.MULTILINE), said

        await published_and_received(engines)
        await a_role_that_may_only_ask(engines, tmp_path / "services")
        await a_client_without_rights_gets_an_error_at_once(engines)
        await a_server_of_another_name_is_rejected(engines, monkeypatch)
        await what_the_doctor_says(partial(command, "doctor", "--json", "--flow"))


async def what_the_doctor_says(doctor: Command) -> None:
    """A server that does not let us in is one row; the others are shown."""
    _, said = await doctor()
    assert re.search(r"Pulsar [\d.]+, acme/prod at pulsar\+ssl", said), said
    let_in = await wrong_for(doctor)
    assert not {"bus", "graph", "queues"} & set(let_in)
    assert "missing queues" not in let_in

    no_token = await wrong_for(doctor, FOURTIER_BUS_TOKEN=WRONG_TOKEN)
    assert set(no_token) == {"bus", "queues"}
    assert "FOURTIER_BUS_TOKEN" in no_token["bus"]["remedy"]
    assert "set FOURTIER_BUS_TOKEN" in no_token["queues"]["found"]

    no_password = await wrong_for(doctor, FOURTIER_GRAPH_PASSWORD=WRONG_PASSWORD)
    assert set(no_password) == {"graph", *let_in}
    assert "rejects user and password" in no_password["graph"]["found"]

    no_trust = await wrong_for(doctor, FOURTIER_BUS_TRUST_CERTIFICATES="")
    assert set(no_trust) == {"bus", "queues"}
    assert "certificate verify failed" in no_trust["bus"]["found"]


async def wrong_for(doctor: Command, **environment: str) -> dict[str, dict[str, str]]:
    """The rows that are not well; nobody serves the flow, so there are always some."""
    code, said = await doctor(**environment)
    assert code == 1, said
    wrong = {row["what"]: row for row in json.loads(said) if not row["well"]}
    assert not {"bus", "queues", "graph", "vectors"} & {
        what for what, row in wrong.items() if row["found"].startswith("no answer within")
    }
    return wrong


async def published_and_received(engines: Secured) -> None:
    """The bus itself takes the same token and certificate."""
    security = PulsarSecurity(token("admin"), str(engines.certificate))
    connecting = connect_pulsar(
        engines.bus_url, "acme", "prod", security=security, log_file="/dev/null"
    )
    async with connecting as bus:
        await bus.publish(Address("facts.store"), b"hello")
        async with bus.subscribe(Address("facts.store"), "facts", Mode.KEY_SHARED) as subscription:
            delivery = await subscription.receive()
            assert delivery.payload == b"hello"
            await delivery.acknowledge()


async def a_role_that_may_only_ask(engines: Secured, data: Path) -> None:
    """The rights of docs/security.md and k8s/README.md, for services and for a program that asks.

    A real question is answered by the agent, with a model that says what the test wants.
    """
    await grant(engines, "namespaces", "", "services", "produce", "consume")
    await grant(engines, "persistent", "agent.request", "asker", "produce")
    await grant(engines, "non-persistent", "inbox.asker", "asker", "consume")
    inbox = Address("inbox.asker", persistent=False)
    async with (
        scripted_model(Says("Hello, Ann.")) as model,
        connected_as("services", engines) as services,
        run_services(services, agent_of(data, model)),
        connected_as("asker", engines) as asker,
        asker.subscribe(inbox, "caller", Mode.EXCLUSIVE) as answers,
    ):
        assert await answer_to("Hello?", asker, answers, inbox) == "Hello, Ann."
        assert len(model.requests) == 1

        forged = [Address("invocation.ended"), Address("facts.store"), inbox]
        for address in forged:
            with pytest.raises(RejectedByBusError, match="AuthorizationError"):
                await asker.publish(address, b"{}")
        others = [Address("agent.request"), Address("facts.store")]
        others.append(Address("inbox.another", persistent=False))
        for address in others:
            with pytest.raises(BusError, match=r"cannot subscribe as spy: .*AuthorizationError"):
                async with asker.subscribe(address, "spy", Mode.SHARED):
                    pass


def agent_of(data: Path, model: ScriptedModel) -> HostPlan:
    """The agent and what it needs to answer, on embedded stores."""
    services: dict[str, dict[str, Any]] = {"agent": {}, "completion": {}, "working-memory": {}}
    flow = Flow(name="shop", tenant="acme", namespace="prod", services=services)
    return host_plan(flow, Settings(data=data, **model.settings))


async def answer_to(question: str, asker: PulsarBus, answers: Subscription, inbox: Address) -> str:
    """Ask as docs/wire.md says it, and put the pieces of the answer together."""
    request = AgentRequest(question=question, user="ann", request_id="asked-1")
    await asker.publish(
        Address(AGENT_REQUEST.topic.name),
        request.model_dump_json().encode(),
        key=f"{request.scope.key}/{request.request_id}",
        properties={"id": request.request_id, "reply-to": inbox.name},
    )
    pieces = list[str]()
    async with asyncio.timeout(120):
        while True:
            delivery = await answers.receive()
            await delivery.acknowledge()
            reply = AgentResponse.model_validate_json(delivery.payload)
            pieces += [reply.content] if reply.message_type == "answer" else []
            if reply.end_of_dialog:
                assert not reply.error
                return "".join(pieces)


async def a_client_without_rights_gets_an_error_at_once(engines: Secured) -> None:
    """A wrong token by the handshake, a role without rights by the first message."""
    async with connected_as("nobody", engines) as nobody:
        with pytest.raises(RejectedByBusError, match="AuthorizationError"):
            await nobody.publish(Address("agent.request"), b"{}")
    for wrong, expected in ((WRONG_TOKEN, "rejects the token"), (None, "wants a token")):
        security = PulsarSecurity(wrong, str(engines.certificate))
        with pytest.raises(BusError, match=expected):
            async with connect_pulsar(
                engines.bus_url, "acme", "prod", security=security, log_file="/dev/null"
            ):
                pass


def connected_as(role: str, engines: Secured) -> AbstractAsyncContextManager[PulsarBus]:
    security = PulsarSecurity(token(role), str(engines.certificate))
    return connect_pulsar(
        engines.bus_url,
        "acme",
        "prod",
        security=security,
        log_file="/dev/null",
        timeouts=Timeouts(operation=10),
    )


async def grant(engines: Secured, domain: str, topic: str, role: str, *actions: str) -> None:
    """As `pulsar-admin topics create` and `grant-permission` do it; of a namespace without topic.

    A namespace and a topic that are there are not made again.
    """
    trusted = ssl.create_default_context(cafile=engines.certificate)
    url = f"{engines.admin_url}/admin/v2/{domain}/acme/prod{f'/{topic}' if topic else ''}"
    headers = {"Authorization": f"Bearer {token('admin')}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.put(url, ssl=trusted) as made:
            assert made.status < 300 or made.status == 409, await made.text()
        async with session.post(f"{url}/permissions/{role}", json=actions, ssl=trusted) as done:
            assert done.status < 300, await done.text()


async def a_server_of_another_name_is_rejected(
    engines: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the client's own connections too: those to other brokers come after the handshake."""

    async def handshake(_url: str, _trusted: str | None, _token: str | None) -> str:
        return "Pulsar"

    monkeypatch.setattr("fourtier.runtime.bus.pulsar.connection.handshake", handshake)
    security = PulsarSecurity(token("admin"), str(engines.certificate))
    # The certificate is for 127.0.0.1.
    url = engines.bus_url.replace("127.0.0.1", "localhost")
    timeouts = Timeouts(send=5, operation=5)
    async with connect_pulsar(
        url, "acme", "prod", security=security, log_file="/dev/null", timeouts=timeouts
    ) as bus:
        with pytest.raises(BusError):
            await bus.publish(Address("facts.store"), b"hello")
