"""The `fourtier` command: sub-commands by theme, and what an error looks like."""

import logging
import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import typer

from fourtier.interfaces.cli import (
    agent,
    archive,
    dead_letters,
    doctor,
    flows,
    forget,
    importing,
    init,
    memory,
    names,
    opting_out,
    research,
    run,
    why,
)
from fourtier.interfaces.cli.output import print_error

app = typer.Typer(
    name="fourtier",
    help="A memory that lasts for AI agents: run a flow, talk to it, look after what it remembers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for commands in (run, flows, init, agent, why, research, forget, opting_out, importing, doctor):
    commands.add_to(app)
names.add_to(memory.facts)
app.add_typer(memory.facts, name="facts")
app.add_typer(memory.episodes, name="episodes")
app.add_typer(memory.conversations, name="conversations")
app.add_typer(archive.archive, name="archive")
app.add_typer(dead_letters.dead_letters, name="dead-letters")

#: A flow that cannot start and a wrong argument end with 2, what failed ends with 1.
_WRONG_USE, _FAILED, _INTERRUPTED, _TERMINATED = 2, 1, 130, 143
_FIRST_PROCESS = 1


def main() -> NoReturn:
    """Run the command; an error that Fourtier raises on purpose is one line on stderr.

    The process ends without the clean-up of the interpreter and of C++: everything that was opened
    is closed by then, and Pulsar's client library can still abort in its destructors.
    """
    _heed_sigterm()
    code = _run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _heed_sigterm() -> None:
    """End at SIGTERM, as every other process, also where this is the first one of a container.

    The kernel gives the first process only signals for which it has a handler of its own. A flow
    has one once it runs; before, and in the other commands, there would be none.
    """
    if os.getpid() == _FIRST_PROCESS:
        signal.signal(signal.SIGTERM, _end)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(_TERMINATED)


def _run() -> int:
    # A retry that helps does not concern a user; one that does not ends with an error.
    logging.getLogger("stamina").setLevel(logging.ERROR)
    try:
        app()
    except SystemExit as end:  # how typer ends, also after --help
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends here
        return _report(error)
    return 0


def _report(error: Exception) -> int:
    """Print an error that Fourtier raises on purpose as one line, another with its traceback."""
    from fourtier.runtime.errors import FourtierError, StartupError

    if not isinstance(error, FourtierError):
        traceback.print_exception(error)  # a bug, whose traceback helps to find it
        return _FAILED
    print_error(str(error))
    wrong_use = isinstance(error, StartupError) or error.type == "invalid-request"
    return _WRONG_USE if wrong_use else _FAILED
