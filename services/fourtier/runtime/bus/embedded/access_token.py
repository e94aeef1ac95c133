"""The token of the embedded broker: the flow makes it and stores it beside the messages."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

_NAME = "token"
_BYTES = 32


def token_in(directory: Path, given: str | None) -> str:
    """The token that lets clients in; it is made at the first start, unless one is given.

    Raises:
        OSError: it cannot be written.
    """
    token = given or read_token(directory) or secrets.token_urlsafe(_BYTES)
    if token != read_token(directory):
        _write(directory / _NAME, token)
    return token


def read_token(directory: Path) -> str | None:
    """The token of the broker in a directory; None if there is none, or we may not read it."""
    with suppress(OSError):
        return (directory / _NAME).read_text(encoding="ascii").strip() or None
    return None


def _write(path: Path, token: str) -> None:
    """Never is there a token that others may read, or half of one."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    new.replace(path)
