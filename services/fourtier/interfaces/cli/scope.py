"""The options that many commands share."""

import getpass
from typing import Annotated

import typer


def login_name() -> str:
    """Who is at the keyboard; `user` where the system does not know."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "user"


User = Annotated[
    str, typer.Option("--user", "-u", help="Whose memory.", default_factory=login_name)
]
Collection = Annotated[str, typer.Option("--collection", "-c", help="Which of their collections.")]
FlowName = Annotated[
    str, typer.Option("--flow", "-f", help="A shipped flow's name or a flow file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DEFAULT_COLLECTION = "default"
