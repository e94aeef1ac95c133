"""The `fourtier` command: sub-commands by theme, and what an error looks like."""

import sys

import typer
from rich.console import Console
from rich.markup import escape

from fourtier.cli import flows, importing, memory, operations, talking
from fourtier.flows.model import FlowError
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError, StartupError

app = typer.Typer(
    name="fourtier",
    help="A memory that lasts for AI agents: run a flow, talk to it, look after what it remembers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for commands in (flows, talking, importing):
    commands.add_to(app)
app.add_typer(memory.facts, name="facts")
app.add_typer(memory.episodes, name="episodes")
app.add_typer(memory.conversations, name="conversations")
app.add_typer(operations.dead_letters, name="dead-letters")
operations.add_to(app)

#: What cannot start or is used wrongly ends with 2, what failed with 1.
_CANNOT_START, _FAILED = 2, 1


def main() -> None:
    """Run the command; an error that Fourtier raises on purpose is one line on stderr."""
    try:
        app()
    except (StartupError, FlowError) as error:
        sys.exit(_complain(error, _CANNOT_START))
    except (FourtierError, BusError) as error:
        sys.exit(_complain(error, _FAILED))
    except KeyboardInterrupt:
        sys.exit(130)


def _complain(error: Exception, code: int) -> int:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(f"[red]fourtier:[/] {escape(str(error))}")
    return code
