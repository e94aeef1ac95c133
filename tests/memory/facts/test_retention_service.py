"""What a flow sets of the retention of facts, through the service and its bus."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.client import client_on
from fourtier.flows.model import FlowError, parse_flow
from fourtier.flows.parameters import parameters_of
from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.errors import CallFailedError
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Scope
from fourtier.schema.status import StatusRequest, status_of
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


async def test_a_full_scope_rejects_and_nothing_is_retried_or_dead_lettered(
    tmp_path: Path,
) -> None:
    """Neither what somebody waits for, nor what extraction and promotion send."""
    services = {"embeddings": {}, "facts": {"max-per-scope": 2, "when-full": "reject"}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        for number in range(2):
            await client.facts.store(ANN, f"I like song {number}")
        for number in range(2, 9):
            fact = StoreFactRequest(user="ann", content=f"I like song {number}")
            await flow.caller.publish(STORE_FACT.topic, fact)
        with pytest.raises(CallFailedError, match="has 2 of at most 2 facts") as failed:
            await client.facts.store(ANN, "I like tea")
        await client.facts.store(BOB, "I like tea")

        assert failed.value.type == "quota-exceeded"
        assert not failed.value.temporary
        assert {fact.content for fact in (await client.facts.list(ANN)).facts} == {
            "I like song 0",
            "I like song 1",
        }
        assert await list_dead_letters(flow.bus, "facts") == []


async def test_a_quota_holds_and_what_is_left_is_found(tmp_path: Path) -> None:
    services = {"embeddings": {}, "facts": {"max-per-scope": 2}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        for number in range(5):
            stored = await client.facts.store(ANN, f"I like song {number}")
            assert (stored.created, stored.not_stored) == (True, None)
        old = datetime(2020, 1, 1, tzinfo=UTC)
        late = await client.facts.store(ANN, "I like tea", timestamp=old)
        listed = await client.facts.list(ANN, include_superseded=True)
        found = await client.facts.search(ANN, "song", top_k=9)

    assert (late.created, late.not_stored) == (False, "evicted")
    assert listed.total == 2
    assert {fact.content for fact in listed.facts} == {"I like song 3", "I like song 4"}
    assert {fact.content for fact in found} == {"I like song 3", "I like song 4"}


async def test_what_is_too_old_is_not_stored_and_the_service_sweeps_by_itself(
    tmp_path: Path,
) -> None:
    now = datetime.now(UTC)
    async with (
        running_flow(tmp_path, {"embeddings": {}, "facts": {}}) as flow,
        client_on(flow.bus) as client,
    ):
        await client.facts.store(ANN, "I like tea", timestamp=now - timedelta(days=11))
        await client.facts.store(ANN, "I like coffee", timestamp=now - timedelta(days=9))
    services = {"embeddings": {}, "facts": {"ttl-days": 10, "sweep-seconds": 0.02}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        facts = await client.facts.list(ANN)
        assert [fact.content for fact in facts.facts] == ["I like coffee"]
        old = await client.facts.store(ANN, "I like water", timestamp=now - timedelta(days=11))
        assert (old.created, old.not_stored) == (False, "expired")

        async def swept() -> bool:
            status = await flow.caller.call(status_of("facts"), StatusRequest())
            return {each.number for each in status.store_counts} == {1}

        await wait_until(swept)


@pytest.mark.parametrize(
    ("service", "wrong", "said"),
    [
        ("facts", "{ttl-days: 90d}", "services.facts.ttl-days"),
        ("facts", "{max-per-scope: 0}", "services.facts.max-per-scope"),
        ("facts", "{when-full: evict-all}", "services.facts.when-full"),
        ("facts", "{quota: 5}", "services.facts.quota"),
        ("episodes", "{when-full: evict-superseded-first}", "services.episodes.when-full"),
        ("conversations", "{max-invocations: -1}", "services.conversations.max-invocations"),
        ("conversations", "{ttl-days: 0}", "services.conversations.ttl-days"),
    ],
)
def test_a_wrong_value_is_named(service: str, wrong: str, said: str) -> None:
    flow = parse_flow(f"name: x\nservices:\n  {service}: {wrong}\n", "x.yaml")
    with pytest.raises(FlowError, match=said):
        parameters_of(flow, service)


def test_a_list_of_users_who_have_opted_out_is_checked() -> None:
    flow = parse_flow("name: x\nprivacy: {opted-out-users: [guest]}\nservices: {}\n", "x.yaml")
    assert flow.privacy.opted_out_users == {"guest"}
    with pytest.raises(FlowError, match="opted-out-users"):
        parse_flow("name: x\nprivacy: {opted-out-users: ['']}\nservices: {}\n", "x.yaml")
