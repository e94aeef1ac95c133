"""Every command in a code block of the pages for users exists, with its options."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from fourtier.interfaces.cli.main import app

PAGES = [Path("README.md"), Path("docs/operating.md"), Path("k8s/README.md")]
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^(?:\$ |.*-- )?fourtier ((?:[a-z]|--).*)")


def commands_in(page: Path) -> list[list[str]]:
    """The words behind `fourtier`, without a comment."""
    lines = [
        line for block in _BLOCK.findall(page.read_text("utf-8")) for line in block.split("\n")
    ]
    return [
        shlex.split(found[1], comments=True) for line in lines if (found := _COMMAND.match(line))
    ]


def is_command(words: list[str]) -> bool:
    command: Any = typer.main.get_command(app)
    for word in words:
        if word.startswith("-"):
            if word not in {name for each in command.params for name in each.opts} | {"--help"}:
                return False
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return False
            command = command.commands[word]
    return not hasattr(command, "commands") or "--help" in words


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_command_in_a_block_exists(page: Path) -> None:
    assert (found := commands_in(page))
    assert not [words for words in found if not is_command(words)]


def test_a_command_or_an_option_that_is_unknown_is_noticed() -> None:
    assert not is_command(["facts", "reinvent"])
    assert not is_command(["facts", "reindex", "--again"])
