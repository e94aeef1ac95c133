"""The options that many commands share."""

import getpass
from typing import Annotated, Any

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
    """The name of a user, a collection or a conversation, as messages carry it.

    Raises:
        BadParameter: says what is wrong with it.
    """
    from fourtier.schema.message import Identifier

    return _checked(value, Identifier)


def optional_name(value: str | None) -> str | None:
    """Reject a name that no message can carry, if one is given.

    Raises:
        BadParameter: says what is wrong with it.
    """
    from fourtier.schema.message import Name

    return value if value is None else _checked(value, Name)


def mentioned_names(values: list[str] | None) -> list[str]:
    """Reject names that no message can carry.

    Raises:
        BadParameter: says what is wrong with one.
    """
    from fourtier.schema.message import Name

    return [_checked(value, Name) for value in values or ()]


def _checked(value: str, kind: Any) -> str:
    """The value as its type has it.

    Raises:
        BadParameter: it has none.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return str(TypeAdapter[Any](kind).validate_python(value))
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(message) from error


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
