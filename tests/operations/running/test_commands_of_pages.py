"""The commands of other pages for operators are there too, and what the roles on Pulsar may do."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourtier.flows.model import read_flow
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from tests.operations.running.test_page import is_command
from tests.support.declared import all_declared, topic_of

SECURITY, KUBERNETES = Path("docs/security.md"), Path("k8s/README.md")
ROLES = KUBERNETES.read_text("utf-8").partition("### Roles on Pulsar")[2].partition("\n## ")[0]


def commands_in(page: Path) -> list[list[str]]:
    """What is typed or quoted as a command of `fourtier`, behind whatever starts it."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    quoted = re.findall(r"`([^`\n]+)`", prose)
    lines = [line for block in blocks for line in block.splitlines()]
    called = [re.match(r"(?:(?:.*-- )|\s*)fourtier ([a-z].*)", line) for line in (*lines, *quoted)]
    return [re.sub(r"\s#.*", "", each[1]).split() for each in called if each]


@pytest.mark.parametrize("page", [SECURITY, KUBERNETES], ids=str)
def test_every_command_is_one(page: Path) -> None:
    named = commands_in(page)
    assert len(named) >= 5
    assert [words for words in named if not is_command(_bare(words))] == []


#: Groups of commands that a sentence names without one of theirs.
_GROUPS = {"dead-letters"}


def _bare(words: list[str]) -> list[str]:
    """The words; a group that is named alone stands for the first of its commands."""
    return [*words, "list"] if len(words) == 1 and words[0] in _GROUPS else words


def test_rights_are_granted_on_topics_that_there_are() -> None:
    flow = read_flow("cluster")
    declared = {topic_of(each).name: topic_of(each) for each in all_declared()}
    dead = {dead_letter_address(service).name for service in flow.services}
    granted = re.findall(
        r"^pulsar-admin topics grant-permission (\S+)://(\S+)/(\S+?) --role \S+ --actions (\S+)$",
        ROLES,
        re.MULTILINE,
    )
    assert len(granted) == 4
    for domain, namespace, name, actions in granted:
        assert namespace == f"{flow.tenant}/{flow.namespace}"
        assert set(actions.split(",")) <= {"produce", "consume"}
        if name.startswith("inbox."):
            assert domain == "non-persistent"
        else:
            assert domain == "persistent"
            assert name in dead or declared[name].persistent


def test_the_administrators_secret_goes_where_the_manifests_have_the_services_one() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", ROLES, re.DOTALL | re.MULTILINE)
    patches = yaml.safe_load(block)["patches"]
    files = {"Job": "init/job.yaml", "CronJob": "doctor/cron-job.yaml"}
    assert {each["target"]["kind"] for each in patches} == set(files)
    for each in patches:
        target = each["target"]
        manifest = yaml.safe_load(Path("k8s/base", files[target["kind"]]).read_text("utf-8"))
        assert manifest["metadata"]["name"] == target["name"]
        (change,) = yaml.safe_load(each["patch"])
        assert change["op"] == "replace"
        *path, name = change["path"].split("/")[1:]
        found: Any = manifest
        for part in path:
            found = found[int(part)] if part.isdigit() else found[part]
        assert found[name] == "fourtier-secrets"
        assert {item["key"] for item in found["items"]} == {"fourtier_bus_token"}
