"""The command line, parsed as the command itself parses it, without running anything."""

from collections.abc import Sequence
from typing import Any

import typer

from fourtier.interfaces.cli.main import app


def parsed(arguments: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The sub-command and its parameters; raises a usage error for one that cannot run."""
    name, *rest = arguments
    command = typer.main.get_command(app).commands.get(name)
    assert command is not None, f"there is no command {name!r}: {' '.join(arguments)}"
    return name, command.make_context(name, rest).params
