"""What is planned for a bus, from what the admin API says of it; nothing is changed by planning."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import TypeAdapter

from fourtier.flows.model import Flow, FlowError, parse_flow
from fourtier.flows.provisioning import bus_needs
from fourtier.runtime.bus.pulsar.policies import RetentionPolicy
from fourtier.runtime.bus.pulsar.provisioning import BusNeeds, BusProvisioner
from fourtier.runtime.provisioning import State, Step

NEEDS = BusNeeds(
    "acme",
    "prod",
    {"facts.store": ["facts"], "words": ["one", "two"]},
    {"dead-letters.facts": ["operator"]},
)
NAMESPACE = {
    "retention_policies": {"retentionTimeInMinutes": 1_440, "retentionSizeInMB": 2_048},
    "backlog_quota_map": {
        "destination_storage": {
            "limit": 1_073_741_824,
            "limitSize": 1_073_741_824,
            "limitTime": -1,
            "policy": "producer_exception",
        }
    },
    "message_ttl_in_seconds": 2_592_000,
    "autoTopicCreationOverride": {
        "allowAutoTopicCreation": True,
        "topicType": "non-partitioned",
    },
    "subscription_expiration_time_minutes": 0,
    "something_else": [],
}
TOPICS = ["facts.store", "words", "dead-letters.facts"]
ALL = {
    "clusters": ["here", "there"],
    "namespaces/acme/prod": NAMESPACE,
    "persistent/acme/prod": [f"persistent://acme/prod/{topic}" for topic in TOPICS],
    "persistent/acme/prod/partitioned": [],
    "persistent/acme/prod/facts.store/subscriptions": ["facts"],
    "persistent/acme/prod/words/subscriptions": ["one", "two", "a stranger"],
    "persistent/acme/prod/dead-letters.facts/subscriptions": ["operator"],
    "persistent/acme/prod/dead-letters.facts/messageTTL": 7_776_000,
}


class RelationMatch:
    """Stands in for `PulsarAdmin`: answers what a test wants, and notes what it is to change."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers
        self.changes: list[tuple[str, Any]] = []

    async def get(self, kind: type[Any], *path: str) -> Any:
        answer = self._answers.get("/".join(path))
        return None if answer is None else TypeAdapter(kind).validate_json(json.dumps(answer))

    async def put(self, *path: str, body: Any = None) -> None:
        self.changes.append(("/".join(path), body))

    async def post(self, *path: str, body: Any = None, **query: str) -> None:
        self.changes.append(("/".join(path), query or body))


async def planned(
    answers: Mapping[str, Any], needs: BusNeeds = NEEDS
) -> tuple[list[Step], RelationMatch]:
    admin = RelationMatch(answers)
    steps = await BusProvisioner(admin, needs).plan()  # type: ignore[arg-type]
    assert not admin.changes
    return list(steps), admin


def there(**changed: Any) -> dict[str, Any]:
    return ALL | {"namespaces/acme/prod": NAMESPACE | changed}


async def test_where_all_is_there_nothing_is_to_be_done() -> None:
    steps, _ = await planned(ALL)
    assert {step.state for step in steps} == {State.THERE}
    assert not any(step.act for step in steps)


async def test_on_an_empty_cluster_all_is_made_in_an_order_that_works() -> None:
    steps, admin = await planned({"clusters": ["here", "there"]})
    assert {step.state for step in steps} == {State.MISSING}
    for step in steps:
        assert step.act is not None
        await step.act()
    paths = [path for path, _ in admin.changes]
    assert paths == [
        "tenants/acme",
        "namespaces/acme/prod",
        "namespaces/acme/prod/retention",
        "namespaces/acme/prod/backlogQuota",
        "namespaces/acme/prod/messageTTL",
        "namespaces/acme/prod/autoTopicCreation",
        "namespaces/acme/prod/subscriptionExpirationTime",
        "persistent/acme/prod/facts.store",
        "persistent/acme/prod/facts.store/subscription/facts",
        "persistent/acme/prod/words",
        "persistent/acme/prod/words/subscription/one",
        "persistent/acme/prod/words/subscription/two",
        "persistent/acme/prod/dead-letters.facts",
        "persistent/acme/prod/dead-letters.facts/subscription/operator",
        "persistent/acme/prod/dead-letters.facts/messageTTL",
    ]
    assert admin.changes[0][1] == {"adminRoles": [], "allowedClusters": ["here", "there"]}


async def test_a_tenant_without_the_namespace_stays() -> None:
    steps, _ = await planned({"tenants/acme": {"adminRoles": ["x"], "allowedClusters": ["here"]}})
    assert [step.state for step in steps[:2]] == [State.THERE, State.MISSING]


async def test_only_the_missing_group_is_made() -> None:
    steps, admin = await planned(ALL | {"persistent/acme/prod/words/subscriptions": ["one"]})
    (step,) = [step for step in steps if step.act]
    assert (step.what, step.state) == ("topic words", State.DIFFERENT)
    assert step.note == "for one, two; without two"
    assert step.act is not None
    await step.act()
    assert [path for path, _ in admin.changes][1:] == [
        "persistent/acme/prod/words/subscription/two"
    ]


async def test_a_partitioned_topic_counts() -> None:
    parts = [f"persistent://acme/prod/{name}-partition-0" for name in TOPICS]
    whole = [f"persistent://acme/prod/{name}" for name in TOPICS]
    partitioned = {"persistent/acme/prod": parts, "persistent/acme/prod/partitioned": whole}
    steps, _ = await planned(ALL | partitioned)
    assert {step.state for step in steps} == {State.THERE}


async def test_a_dead_letter_topic_with_another_ttl_is_changed_and_nothing_else_of_it() -> None:
    ttl = "persistent/acme/prod/dead-letters.facts/messageTTL"
    steps, admin = await planned({key: value for key, value in ALL.items() if key != ttl})
    (step,) = [step for step in steps if step.act]
    assert step.state is State.DIFFERENT
    assert step.act is not None
    await step.act()
    assert admin.changes == [(ttl, {"messageTTL": "7776000"})]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"message_ttl_in_seconds": 60}, "message TTL"),
        ({"subscription_expiration_time_minutes": 5}, "group expiry"),
        (
            {"autoTopicCreationOverride": {"allowAutoTopicCreation": False, "topicType": "x"}},
            "topic creation",
        ),
        (
            {"retention_policies": {"retentionTimeInMinutes": 1, "retentionSizeInMB": 2_048}},
            "retention",
        ),
        (
            {
                "backlog_quota_map": {
                    "destination_storage": {"limitSize": 1, "limitTime": -1, "policy": "x"}
                }
            },
            "backlog quota",
        ),
    ],
)
async def test_a_policy_of_another_value_is_changed(changed: dict[str, Any], what: str) -> None:
    steps, _ = await planned(there(**changed))
    assert [(step.what, step.state) for step in steps if step.act] == [(what, State.DIFFERENT)]


@pytest.mark.parametrize(
    ("policy", "first"),
    [
        (RetentionPolicy(backlog_megabytes=10_000, retention_megabytes=20_000), "retention"),
        (RetentionPolicy(backlog_megabytes=100, retention_megabytes=200), "backlogQuota"),
        (RetentionPolicy(backlog_megabytes=10_000, retention_hours=0), "retention"),
    ],
)
async def test_retention_stays_above_the_backlog_all_the_time(
    policy: RetentionPolicy, first: str
) -> None:
    """Pulsar rejects a retention below the backlog quota, and the other way round."""
    needs = BusNeeds("acme", "prod", {}, {}, policy)
    steps, admin = await planned(ALL, needs)
    for step in steps:
        if step.act:
            await step.act()
    assert admin.changes[0][0] == f"namespaces/acme/prod/{first}"
    assert len(admin.changes) == 2


async def test_without_retention_nothing_is_stored_by_time_or_by_size() -> None:
    steps, admin = await planned({}, BusNeeds("a", "b", {}, {}, RetentionPolicy(retention_hours=0)))
    (step,) = [step for step in steps if step.what == "retention"]
    assert step.act is not None
    await step.act()
    assert admin.changes[0][1] == {"retentionTimeInMinutes": 0, "retentionSizeInMB": 0}


def flow(**sections: Any) -> Flow:
    return Flow(
        name="t", tenant="acme", services={"facts": None, "conversations": None}, **sections
    )


def test_groups_are_those_of_the_flows_own_services() -> None:
    needs = bus_needs(flow())
    assert needs.groups["facts.store"] == ["facts"]
    assert needs.groups["invocation.ended"] == ["conversations"]  # extraction is not in this flow
    assert "conversation.ended" not in needs.groups  # nobody in this flow hears it
    assert "facts.retrieve" not in needs.groups  # it is not persistent
    assert list(needs.dead_letters) == ["dead-letters.facts", "dead-letters.conversations"]


def test_units_of_the_flow_file() -> None:
    text = "name: t\nservices: {}\nbus:\n  topics: {message-ttl-days: 1, retention-hours: 0}"
    assert bus_needs(parse_flow(text, "t.yaml")).retention == RetentionPolicy(
        message_ttl_days=1, retention_hours=0
    )


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        (
            "bus: {topics: {backlog-megabytes: 4096}}",
            "bus.topics: .*retention-megabytes must be more",
        ),
        ("engines: {collections: {write-replicas: 2}}", "engines.collections: .*write-replicas"),
        ("engines: {collections: {quantisation: much}}", "engines.collections.quantisation"),
        ("bus: {url: 'pulsar://me:pw@x:6650'}", "bus.url: .*cannot hold a user or a password"),
        ("engines: {graph: 'bolt://neo4j:pw@x'}", "engines.graph: .*cannot hold a user"),
        ("bus: {admin-url: 'http://me:pw@x'}", "bus.admin-url: .*cannot hold a user"),
        ("engines: {vectors: 'http://me:pw@x'}", "engines.vectors: .*cannot hold a user"),
    ],
)
def test_a_wrong_value_is_reported_with_its_key(section: str, wrong: str) -> None:
    with pytest.raises(FlowError, match=f"^t.yaml: {wrong}") as raised:
        parse_flow(f"name: t\nservices: {{}}\n{section}", "t.yaml")
    assert "pw" not in str(raised.value).replace("FOURTIER_GRAPH_PASSWORD", "")
