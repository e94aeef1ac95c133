"""The options that many commands share."""

import getpass
from typing import Annotated

import typer

#: The flow that is run and asked where nobody names another one.
DEFAULT_FLOW = "laptop"
DEFAULT_COLLECTION = "default"


def login_name() -> str:
    """The name of the person at the keyboard; `user` where the system does not know it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "user"


def scope_name(value: str) -> str:
    """Reject a name that no message can carry.

    Raises:
        BadParameter: says what is wrong with it.
    """
    from pydantic import TypeAdapter, ValidationError

    from fourtier.schema.message import Name

    try:
        return TypeAdapter(Name).validate_python(value)
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"]) from error


def optional_name(value: str | None) -> str | None:
    """Reject a name as `scope_name` does, if one is given.

    Raises:
        BadParameter: says what is wrong with it.
    """
    return value if value is None else scope_name(value)


def scope_names(values: list[str] | None) -> list[str]:
    """Reject names as `scope_name` does.

    Raises:
        BadParameter: says what is wrong with one.
    """
    return [scope_name(value) for value in values or ()]


User = Annotated[
    str,
    typer.Option(
        "--user", "-u", help="Whose memory.", default_factory=login_name, callback=scope_name
    ),
]
Collection = Annotated[
    str,
    typer.Option("--collection", "-c", help="Which of their collections.", callback=scope_name),
]
FlowName = Annotated[
    str, typer.Option("--flow", "-f", help="A shipped flow's name or a flow file.")
]
FlowArgument = Annotated[str, typer.Argument(help="A shipped flow's name or a flow file.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Change nothing; only say what would be done.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ListLimit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at most.")]
