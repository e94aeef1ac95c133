"""The network policies allow only the connections that are needed."""

from collections import defaultdict
from urllib.parse import urlsplit

import pytest

from tests.deployment.deployment_files import (
    FLOW,
    OPERATORS,
    OVERLAYS,
    SERVICES,
    Yaml,
    environment,
    pods,
    rendered,
    uses_graph,
    uses_model,
    uses_vectors,
)

pytestmark = pytest.mark.parametrize("overlay", OVERLAYS)

ALL = SERVICES | OPERATORS
DNS, OTLP, HTTPS, OLLAMA = 53, 4318, 443, 11434


def _selects(selector: Yaml, labels: dict[str, str]) -> bool:
    return selector.get("matchLabels", {}).items() <= labels.items()


def _policies(overlay: str, service: str, direction: str) -> list[Yaml]:
    """The rules in one direction of all policies that select a service's pods."""
    labels = pods(overlay)[service]["metadata"]["labels"]
    return [
        rule
        for policy in rendered(overlay, "NetworkPolicy")
        if _selects(policy["spec"]["podSelector"], labels)
        for rule in policy["spec"].get(direction, [])
    ]


def _reached(overlay: str) -> dict[int, set[str]]:
    """For each port the services that may connect to it."""
    found: dict[int, set[str]] = defaultdict(set)
    for service in ALL:
        for rule in _policies(overlay, service, "egress"):
            for port in rule["ports"]:
                found[port["port"]].add(service)
    return dict(found)


def _port(overlay: str, variable: str, url: str | None) -> int:
    parts = urlsplit(environment(overlay).get(variable) or str(url))
    return parts.port or HTTPS


def test_everything_is_forbidden_by_default(overlay: str) -> None:
    for service in ALL:
        labels = pods(overlay)[service]["metadata"]["labels"]
        forbidding = [
            policy
            for policy in rendered(overlay, "NetworkPolicy")
            if _selects(policy["spec"]["podSelector"], labels)
            and set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"}
            and not {"ingress", "egress"} & set(policy["spec"])
        ]
        assert len(forbidding) == 1, service


def test_each_service_connects_only_to_what_it_uses(overlay: str) -> None:
    allowed = {
        DNS: ALL,
        _port(overlay, "FOURTIER_BUS_URL", FLOW.bus.url): ALL,
        _port(overlay, "FOURTIER_BUS_ADMIN_URL", FLOW.bus.admin_url): OPERATORS,
        _port(overlay, "FOURTIER_GRAPH_URL", FLOW.engines.graph): uses_graph() | OPERATORS,
        _port(overlay, "FOURTIER_VECTORS_URL", FLOW.engines.vectors): uses_vectors() | OPERATORS,
        _port(overlay, "OPENAI_BASE_URL", None): uses_model(),
        HTTPS: uses_model(),
    }
    if "FOURTIER_OTLP_ENDPOINT" in environment(overlay):
        allowed[_port(overlay, "FOURTIER_OTLP_ENDPOINT", None)] = ALL
    assert _reached(overlay) == allowed


def test_every_egress_rule_has_a_destination(overlay: str) -> None:
    for service in ALL:
        assert all(rule["to"] for rule in _policies(overlay, service, "egress"))


def test_dns_works_through_a_cache_on_the_node(overlay: str) -> None:
    """It is not a pod, so that no selector matches it; and only its DNS port is open."""
    caches = {"169.254.20.10/32", "169.254.169.254/32"}
    for service in ALL:
        for rule in _policies(overlay, service, "egress"):
            blocks = {end["ipBlock"]["cidr"] for end in rule["to"] if "ipBlock" in end}
            if {port["port"] for port in rule["ports"]} == {DNS}:
                assert blocks == caches
                assert {port["protocol"] for port in rule["ports"]} == {"UDP", "TCP"}
            else:
                assert not blocks & caches


def test_only_prometheus_connects_to_services(overlay: str) -> None:
    for service in ALL:
        rules = _policies(overlay, service, "ingress")
        assert [port["port"] for rule in rules for port in rule["ports"]] == (
            [FLOW.health_port] if overlay == "production" else []
        )
        assert all("namespaceSelector" in end for rule in rules for end in rule["from"])


def test_an_engine_accepts_only_the_services_that_use_it(overlay: str) -> None:
    users = {
        ("pulsar", urlsplit(FLOW.bus.url).port): ALL,
        ("pulsar", urlsplit(str(FLOW.bus.admin_url)).port): OPERATORS,
        ("neo4j", urlsplit(FLOW.engines.graph).port): uses_graph() | OPERATORS,
        ("qdrant", urlsplit(FLOW.engines.vectors).port): uses_vectors() | OPERATORS,
    }
    accepted: dict[tuple[str, int], set[str]] = defaultdict(set)
    for engine in rendered(overlay, "StatefulSet"):
        labels = engine["spec"]["template"]["metadata"]["labels"]
        for policy in rendered(overlay, "NetworkPolicy"):
            if _selects(policy["spec"]["podSelector"], labels):
                for rule in policy["spec"].get("ingress", []):
                    for port in rule["ports"]:
                        who = _selected(overlay, rule["from"])
                        accepted[engine["metadata"]["name"], port["port"]] |= who
    assert accepted == (users if overlay == "laptop" else {})


def _selected(overlay: str, ends: list[Yaml]) -> set[str]:
    """The services whose pods one of the rule's ends selects."""
    return {
        service
        for end in ends
        for service, template in pods(overlay).items()
        if _selects(end["podSelector"], template["metadata"]["labels"])
    }
