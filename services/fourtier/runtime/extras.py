"""Packages that only some uses of Fourtier need: the extras of `pip install fourtier[EXTRA]`."""

from collections.abc import Generator
from contextlib import contextmanager

from fourtier.runtime.errors import StartupError


class MissingExtraError(StartupError):
    """A package is not installed that an extra brings; the message names both."""


@contextmanager
def extra_needed(extra: str) -> Generator[None]:
    """Import what an extra brings within this context.

    Raises:
        MissingExtraError: it is not installed; names the package and the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = error.name or str(error)
        if missing.partition(".")[0] == "fourtier":  # a fault in the code, not in the installation
            raise
        raise MissingExtraError(
            f"this needs the package {missing.partition('.')[0]}: install fourtier[{extra}]"
        ) from error
