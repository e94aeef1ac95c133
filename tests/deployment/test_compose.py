"""docker-compose.yaml agrees with the flow and the code, and starts in the right order."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fourtier.runtime.service.registry import load_service
from tests.deployment.commands import parsed
from tests.deployment.deployment_files import (
    FLOW,
    SERVICES,
    compose,
    compose_services,
    run,
    stops_within,
    uses_graph,
    uses_model,
    variables,
)

#: Variables without a default: `docker compose` does not start without them.
_REQUIRED = re.compile(r"\$\{(\w+):\?")
_ASKED = re.compile(r"\$\{(\w+)[:}]")


def test_the_file_follows_the_compose_specification() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert run("check-jsonschema", *schema, "docker-compose.yaml")


def test_every_service_of_the_flow_has_a_container() -> None:
    assert set(compose_services()) == SERVICES | {"init"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_container_serves_its_service(name: str) -> None:
    command, parameters = parsed(compose_services()[name]["command"])
    assert command == "serve"
    assert parameters == {"flow": FLOW.name, "services": [name]}


def test_init_prepares_the_flow() -> None:
    command, parameters = parsed(compose_services()["init"]["command"])
    assert command == "init"
    assert parameters["flow"] == FLOW.name
    assert not parameters["dry_run"]


def test_the_engines_have_the_host_names_of_the_flow() -> None:
    urls = [FLOW.bus.url, str(FLOW.bus.admin_url), FLOW.engines.graph, FLOW.engines.vectors]
    assert {urlsplit(url).hostname for url in urls} == {"pulsar", "neo4j", "qdrant"}
    assert {"pulsar", "neo4j", "qdrant"} <= set(compose()["services"])
    command = compose()["services"]["pulsar"]["command"][-1].split()
    assert command[command.index("--advertised-address") + 1] == "pulsar"


def test_an_engine_finds_its_data_after_a_restart_and_has_time_to_write_them() -> None:
    pulsar = compose()["services"]["pulsar"]
    assert pulsar["command"][:2] == ["bash", "-c"]
    prepare, _, start = pulsar["command"][2].partition(" && ")
    assert prepare == "bin/apply-config-from-env.py conf/standalone.conf"
    assert start.startswith("exec bin/pulsar standalone ")  # exec: or it gets no SIGTERM
    assert pulsar["environment"]["advertisedAddress"] == "127.0.0.1"
    for engine in ("pulsar", "neo4j", "qdrant"):
        assert compose()["services"][engine]["stop_grace_period"] == "2m"  # Docker's own: 10 s


def test_one_container_builds_the_image_and_none_pulls_it() -> None:
    builds = {name for name, service in compose_services().items() if "build" in service}
    assert builds == {"init"}
    for name in SERVICES:
        assert compose_services()[name]["pull_policy"] == "never"


@pytest.mark.parametrize("name", sorted(SERVICES | {"init"}))
def test_only_settings_that_the_code_reads_are_set(name: str) -> None:
    assert set(compose_services()[name]["environment"]) <= variables()


def test_only_services_that_use_an_engine_get_its_secret() -> None:
    named = {
        variable: {
            name
            for name, service in compose_services().items()
            if variable in service["environment"]
        }
        for variable in ("FOURTIER_GRAPH_PASSWORD", "OPENAI_API_KEY")
    }
    assert named["FOURTIER_GRAPH_PASSWORD"] == uses_graph() | {"init"}
    assert named["OPENAI_API_KEY"] == uses_model()


def test_engines_come_first_then_init_then_the_services() -> None:
    engines = dict.fromkeys(("pulsar", "neo4j", "qdrant"), "service_healthy")
    waits = {
        name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
        for name, service in compose()["services"].items()
    }
    assert waits["init"] == engines
    after_init = {"init": "service_completed_successfully"}
    for name in SERVICES:
        first = set(load_service(name).deployment.starts_after) & SERVICES
        assert waits[name] == (dict.fromkeys(first, "service_healthy") or after_init)
    assert waits["agent"]["facts"] == "service_healthy"


def test_a_container_that_others_wait_for_has_a_health_check() -> None:
    for service in compose()["services"].values():
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy" and other not in SERVICES:
                assert "healthcheck" in compose()["services"][other], other


@pytest.mark.parametrize("name", sorted(SERVICES | {"init"}))
def test_a_container_has_no_privileges(name: str) -> None:
    service = compose_services()[name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - the container's own
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert "user" not in service  # that of the image


def test_a_stop_leaves_time_to_finish_the_messages_in_flight() -> None:
    for name in SERVICES:
        assert compose_services()[name]["stop_grace_period"] == "1m"
    assert stops_within() < 60


def test_ports_are_open_on_this_machine_only() -> None:
    ports = [
        port for service in compose()["services"].values() for port in service.get("ports", [])
    ]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_other_images_are_pinned_and_mounted_files_exist() -> None:
    for name, service in compose()["services"].items():
        assert re.search(r":[v0-9][\w.-]*$|^fourtier:local$", service["image"]), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose()["volumes"] or Path(source).exists(), volume


def test_the_example_has_all_variables_and_no_secret() -> None:
    text = Path("docker-compose.yaml").read_text("utf-8")
    lines = Path("deploy/compose.env").read_text("utf-8").splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert set(_REQUIRED.findall(text)) <= set(_ASKED.findall(text)) == set(example)
    assert not any(example.values())
