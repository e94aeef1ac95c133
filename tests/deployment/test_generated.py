"""The deployment files that list all services are generated from the services' classes."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from fourtier.flows.model import Flow, parse_flow
from fourtier.operations.deployment.documents import (
    MERGE,
    Alias,
    InlineDict,
    InlineList,
    Text,
    dumped,
    filled,
)
from fourtier.operations.deployment.files import differences, generated, write
from fourtier.runtime.errors import StartupError
from tests.deployment.deployment_files import FLOW, SERVICES, Yaml, component, container, run

#: Those that a checkout needs for the generated files to be rendered.
_FOLDERS = ("k8s", "flows", "deploy")


def test_the_committed_files_are_up_to_date() -> None:
    assert not "".join(differences(FLOW, Path())), "run `make deployment`"


def test_a_changed_file_is_shown_and_written_again(checkout: Path) -> None:
    agent = checkout / "k8s/base/services/agent/kustomization.yaml"
    agent.write_text(agent.read_text("utf-8").replace("cpu: 100m", "cpu: 900m"), "utf-8")
    shown = "".join(differences(FLOW, checkout))
    assert "-          cpu: 900m\n+          cpu: 100m\n" in shown
    write(FLOW, checkout)
    assert not list(differences(FLOW, checkout))


def test_a_service_that_is_gone_takes_its_folder_along(checkout: Path) -> None:
    old = checkout / "k8s/base/services/old/kustomization.yaml"
    old.parent.mkdir()
    old.write_text("resources: [../../service]\n", "utf-8")
    assert "-resources: [../../service]\n" in "".join(differences(FLOW, checkout))
    write(FLOW, checkout)
    assert not old.parent.exists()


def test_it_writes_only_into_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="top of the repository"):
        write(FLOW, tmp_path)
    assert not list(tmp_path.iterdir())


def test_yaml_is_written_as_people_write_it() -> None:
    value = {
        MERGE: Alias("service"),
        "command": InlineList(["serve", "cluster"]),
        "environment": InlineDict({MERGE: InlineList([Alias("a"), Alias("b")])}),
        "patch": Text("- one\n- two\n"),
        "number": "16",
    }
    assert dumped(value) == dedent(
        """\
        <<: *service
        command: [serve, cluster]
        environment: {<<: [*a, *b]}
        patch: |
          - one
          - two
        number: '16'
        """
    )


def test_a_part_stands_as_far_to_the_right_as_its_line_in_the_template() -> None:
    template = "names:\n  # All of them.\n  #> services\nend: 1\n"
    text = filled(template, {"services": "- a\n- b\n"})
    assert text == "names:\n  # All of them.\n  - a\n  - b\nend: 1\n"
    with pytest.raises(KeyError):
        filled(template, {})


#: A service from another package, with every kind of declaration that a deployment depends on.
_PLUG_IN = """
from fourtier.runtime.service import (
    Collection, DeploymentProfile, GraphSchema, Node, Service, Stores, answer, on,
)
from fourtier.schema.message import Message
from fourtier.schema.topics import Topic, query


class Ask(Message):
    city: str


class Report(Message):
    text: str


class Observed(Message):
    city: str


ASK_WEATHER = query("weather.ask", Ask, Report)
WEATHER_OBSERVED = Topic("weather.observed", Observed)


class WeatherService(Service):
    name = "weather"
    stores = Stores(GraphSchema([Node("Weather", {"id": "STRING"})]), [Collection("weather")])
    deployment = DeploymentProfile(
        cpu="300m", max_replicas=4, backlog_per_replica=7, drives=["completion"],
        starts_after=["embeddings", "nowhere"], uses_model=True,
    )

    @answer(ASK_WEATHER)
    async def ask(self, request: Ask) -> Report:
        return Report(text=request.city)

    @on(WEATHER_OBSERVED)
    async def note(self, event: Observed) -> None: ...
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that the generated ones stand among."""
    root = tmp_path / "checkout"
    for folder in _FOLDERS:
        shutil.copytree(folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy("docker-compose.yaml", root)
    return root


@pytest.fixture
def flow(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flow:
    """The cluster flow of that copy, with the service `weather` of an installed package."""
    packages = tmp_path / "packages"
    information = packages / "weather-1.0.dist-info"
    information.mkdir(parents=True)
    (packages / "weather_plug_in.py").write_text(_PLUG_IN, "utf-8")
    (information / "METADATA").write_text("Name: weather\nVersion: 1.0\n", "utf-8")
    entry = "[fourtier.services]\nweather = weather_plug_in:WeatherService\n"
    (information / "entry_points.txt").write_text(entry, "utf-8")
    monkeypatch.syspath_prepend(packages)
    file = checkout / "flows/fourtier/flows/cluster.yaml"
    file.write_text(file.read_text("utf-8") + "  weather: {}\n", "utf-8")
    return parse_flow(file.read_text("utf-8"), "cluster")


@pytest.fixture
def manifests(checkout: Path, flow: Flow) -> list[Yaml]:
    """The overlay `production` after the files were generated for that flow."""
    write(flow, checkout)
    overlay = str(checkout / "k8s/overlays/production")
    return list(yaml.safe_load_all(run("kubectl", "kustomize", overlay)))


def _of(manifests: list[Yaml], kind: str) -> dict[str, Yaml]:
    found = [each for each in manifests if each["kind"] == kind]
    return {each["metadata"]["name"].removeprefix("fourtier-"): each for each in found}


def test_only_generated_files_change_for_a_new_service(checkout: Path, flow: Flow) -> None:
    before = _contents(checkout)
    write(flow, checkout)
    changed = {path for path, text in _contents(checkout).items() if before.get(path) != text}
    services = Path("k8s/base/services")
    assert changed == {
        Path("docker-compose.yaml"),
        Path("deploy/prometheus/prometheus.yaml"),
        Path("k8s/components/autoscaling/scaled-objects.yaml"),
        services / "kustomization.yaml",
        services / "weather/kustomization.yaml",
    }
    assert changed <= set(generated(flow))


def _contents(root: Path) -> Mapping[Path, str]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root): path.read_text("utf-8") for path in files}


def test_a_new_service_has_a_deployment(manifests: list[Yaml]) -> None:
    deployment = _of(manifests, "Deployment")["weather"]
    runs = container(deployment["spec"]["template"])
    assert component(deployment) == "weather"
    assert runs["args"] == ["serve", "/etc/fourtier/flow.yaml", "weather"]
    assert runs["resources"] == {
        "requests": {"cpu": "300m", "memory": "128Mi"},
        "limits": {"memory": "512Mi"},
    }
    assert "weather" in _of(manifests, "PodDisruptionBudget")


def test_a_new_service_reaches_the_engines_that_it_declares(manifests: list[Yaml]) -> None:
    template = _of(manifests, "Deployment")["weather"]["spec"]["template"]
    labels = template["metadata"]["labels"]
    policies = {
        name
        for name, policy in _of(manifests, "NetworkPolicy").items()
        if policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    }
    reached = {"bus", "graph", "vectors", "model"}
    assert policies == reached | {"names", "nothing-else", "metrics", "traces"}
    (secrets,) = [each for each in template["spec"]["volumes"] if each["name"] == "secrets"]
    paths = {
        item["path"]
        for source in secrets["projected"]["sources"]
        for item in source.get("secret", {"items": []})["items"]
    }
    assert paths == {
        "fourtier_bus_token",
        "fourtier_graph_user",
        "fourtier_graph_password",
        "fourtier_vectors_key",
        "openai_api_key",
    }


def test_a_new_service_scales_by_its_backlog(manifests: list[Yaml]) -> None:
    scaled = _of(manifests, "ScaledObject")
    spec = scaled["weather"]["spec"]
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 4)
    (trigger,) = spec["triggers"]
    assert trigger["metadata"]["topic"] == "persistent://fourtier/cluster/weather.observed"
    assert trigger["metadata"]["subscription"] == "weather"
    assert trigger["metadata"]["msgBacklogThreshold"] == "7"
    assert trigger["metadata"]["adminURL"].startswith("https://")
    assert trigger["authenticationRef"] == {"name": "fourtier-bus"}
    assert trigger in scaled["completion"]["spec"]["triggers"]  # which works for it


def test_a_new_service_has_a_container_and_is_scraped(checkout: Path, flow: Flow) -> None:
    write(flow, checkout)
    compose = yaml.safe_load((checkout / "docker-compose.yaml").read_text("utf-8"))
    weather = compose["services"]["weather"]
    assert weather["command"] == ["serve", "cluster", "weather"]
    assert {"FOURTIER_GRAPH_PASSWORD", "OPENAI_MODEL"} <= set(weather["environment"])
    assert weather["depends_on"] == {"embeddings": {"condition": "service_healthy"}}
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert run("check-jsonschema", *schema, str(checkout / "docker-compose.yaml"))
    text = (checkout / "deploy/prometheus/prometheus.yaml").read_text("utf-8")
    (names,) = yaml.safe_load(text)["scrape_configs"][0]["dns_sd_configs"]
    assert set(names["names"]) == SERVICES | {"weather"}
