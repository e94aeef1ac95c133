"""What docs/operating.md names is there: commands, targets, files, settings and keys."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from fourtier.flows.model import read_flow
from fourtier.interfaces.cli.main import app
from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.rpc.limits import Limits
from fourtier.runtime.service.registry import load_service
from fourtier.runtime.settings import Settings

PAGE = Path("docs/operating.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TYPED = [line for block in BLOCKS for line in block.splitlines()]
INLINE = re.findall(r"`([^`\n]+)`", PAGE)
SERVICES = list(read_flow("cluster").services)
#: Words with a hyphen that are of others, or of an answer.
OTHERS = {
    "pulsar-lite",
    "neo4j-admin",
    "model-unreachable",
    "model-busy",
    "model-rejected",
    "read-only",
    "read-write",
    "evict-superseded-first",
    "evict-oldest",
    "evict-least-useful",
    "quota-exceeded",
    "opt-in",
    "opt-out",
}


def commands_of(program: str) -> list[list[str]]:
    """How a program is called, as words; what stands before it in the line is left out.

    Behind `-n` its name is that of the namespace.
    """
    called = [re.match(rf"(?:.*\s)?(?<!-n ){program} (.*)", line) for line in (*TYPED, *INLINE)]
    return [each[1].split() for each in called if each]


def is_command(words: Sequence[str]) -> bool:
    """Whether there is such a command with such options."""
    command: Any = typer.main.get_command(app)
    for word in words:
        if word.startswith("-"):
            names = {name for each in command.params for name in each.opts}
            if word not in names:
                return False
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return False
            command = command.commands[word]
    return not hasattr(command, "commands")


def test_every_command_is_one() -> None:
    named = commands_of("fourtier")
    assert len(named) > 5
    assert [words for words in named if not is_command(words)] == []
    assert not is_command(["facts", "reinvent"])
    assert not is_command(["facts", "reindex", "--again"])


def test_every_target_is_one() -> None:
    makefile = Path("Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = commands_of("make")
    assert named
    assert {words[0] for words in named} <= targets


def test_every_file_is_there() -> None:
    linked = [Path("docs", link) for link in re.findall(r"\]\((?!https:)([^)#]+)\)", PAGE)]
    named = [Path(word) for word in INLINE if re.match(r"(tests|bench|k8s|docs|deploy)/\S+$", word)]
    assert linked
    assert named
    assert [each for each in (*linked, *named) if not each.exists()] == []


def test_every_setting_is_one() -> None:
    named = {name.lower() for name in re.findall(r"FOURTIER_([A-Z_]+)", PAGE)}
    assert named
    assert named <= set(Settings.model_fields)


def test_every_key_is_one() -> None:
    models = [RetentionPolicy, Limits, *(load_service(name).parameters for name in SERVICES)]
    keys = {field.replace("_", "-") for model in models for field in model.model_fields}
    collections = {each.name for name in SERVICES for each in load_service(name).stores.collections}
    named = {word for word in INLINE if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", word)}
    assert named
    assert named <= keys | collections | set(SERVICES) | OTHERS


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_its_line(service: str) -> None:
    for title in ("Sizing", "What scales by what", "What happens when something fails"):
        (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
        assert re.search(rf"^\|.*\b{service}\b.*\|", section, re.MULTILINE), title


def test_the_copy_is_the_one_that_is_tested() -> None:
    assert "flock --nonblock .fourtier/lock cp -a .fourtier /backup/fourtier" in TYPED
