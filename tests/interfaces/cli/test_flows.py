"""`fourtier flow check` and `topics`."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourtier.runtime.service.registry import declared_handlers, service_names
from tests.interfaces.cli.support import Command


def write(directory: Path, **services: dict[str, Any]) -> str:
    file = directory / "flow.yaml"
    named = {name.replace("_", "-"): values for name, values in services.items()}
    file.write_text(yaml.safe_dump({"name": "shop", "services": named}), "utf-8")
    return str(file)


def test_the_shipped_flows_are_fine_and_without_warnings(fourtier: Command) -> None:
    for name in ("laptop", "cluster"):
        assert fourtier("flow", "check", name) == 0
        assert f"{name} is fine: flow {name}, 12 services" in fourtier.said
        assert fourtier.err == ""


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ({"agent": {}}, "services.agent: it needs the service completion"),
        ({"facts": {}}, "services.facts: it needs the service embeddings"),
        ({"extraction": {"method": "llm"}}, "services.extraction: it needs the service completion"),
        (
            {"embeddings": {}, "archive": {}, "researcher": {"method": "llm"}},
            "services.researcher: it needs the service completion",
        ),
        ({"working_memory": {"compression": "llm"}}, "working-memory: it needs the service compl"),
    ],
)
def test_a_service_without_one_that_it_needs_is_rejected(
    fourtier: Command, tmp_path: Path, services: dict[str, Any], said: str
) -> None:
    assert fourtier("flow", "check", write(tmp_path, **services)) == 2
    assert said in fourtier.said


def test_missing_tiers_are_warned_of(fourtier: Command, tmp_path: Path) -> None:
    file = write(tmp_path, completion={}, conversations={}, agent={})
    assert fourtier("flow", "check", file) == 0
    assert "warning: without facts answers are made without facts" in fourtier.err
    assert "warning: without episodes" in fourtier.err
    assert "warning: without promotion" in fourtier.err
    assert "without conversations" not in fourtier.err


def test_a_flow_without_an_agent_is_warned_of(fourtier: Command, tmp_path: Path) -> None:
    assert fourtier("flow", "check", write(tmp_path, embeddings={}, facts={})) == 0
    assert "warning: without agent nobody answers" in fourtier.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00n\x00a", "not UTF-8"),
        (b"name: \x00shop", "not YAML"),
        (b"name: [shop", "not YAML"),
        (b"- name", "a flow is a mapping"),
        (b"", "a flow is a mapping"),
    ],
)
def test_bytes_that_are_not_a_flow_are_never_called_no_such_flow(
    fourtier: Command, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "flow.yaml"
    file.write_bytes(content)
    assert fourtier("flow", "check", str(file)) == 2
    assert said in fourtier.said
    assert "no such flow" not in fourtier.said


@pytest.mark.parametrize(("name", "said"), [("nothing", "no such flow"), (".", "cannot be read")])
def test_a_file_that_cannot_be_read_says_why(fourtier: Command, name: str, said: str) -> None:
    assert fourtier("flow", "check", name) == 2
    assert said in fourtier.said


def test_topics_shows_every_handler_and_status_call_with_its_subscription(
    fourtier: Command,
) -> None:
    assert fourtier("topics", "--json") == 0
    rows = json.loads(fourtier.out)
    shown = {(row["topic"], row["subscription"]): row for row in rows}
    for service, handler in declared_handlers(service_names()):
        assert shown[handler.topic.name, service]["persistent"] is handler.topic.persistent
    for service in service_names():
        assert shown[f"{service}.status", service]["persistent"] is False
    declared = len(list(declared_handlers(service_names())))
    assert len(rows) == declared + len(service_names()) + 1  # the status of each, and flow.services


def test_the_table_of_topics_names_each_topic_whole(fourtier: Command) -> None:
    assert fourtier("topics") == 0
    assert "conversations.update" in fourtier.out
    assert "working-memory.status" in fourtier.out
