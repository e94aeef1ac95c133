"""Messages from standard input: lines of a pipe, or what a person types or pastes."""

import contextlib
import importlib
import select
import sys
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any

#: Seconds. Lines of a paste arrive at once; nobody types two lines so quickly.
_PASTE_WINDOW = 0.05
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def input_messages(prompt: str) -> "AsyncGenerator[str | None]":
    """Yield messages until the end of input; None for one that is not UTF-8 text.

    On a terminal, several lines that are pasted at once are one message, and `prompt` is shown.
    Otherwise each line is a message.
    """
    from fourtier.operations.blocking import iterate_in_thread

    if sys.stdin.isatty():
        return iterate_in_thread(typed_messages(prompt))
    return iterate_in_thread(piped_lines(sys.stdin.buffer))


def piped_lines(stream: Iterable[bytes]) -> Iterator[str | None]:
    """Each line as text, without a byte order mark; None for one that is not UTF-8."""
    for number, line in enumerate(stream):
        content = line if number else line.removeprefix(_BYTE_ORDER_MARK)
        try:
            yield content.decode("utf-8")
        except UnicodeDecodeError:
            yield None


def typed_messages(prompt: str) -> Iterator[str | None]:
    """What a person types; lines that arrive together are one message."""
    _edit_lines()
    while True:
        lines: list[str] = []
        try:
            lines.append(input(prompt))
            while _more_has_arrived():
                lines.append(input())
        except UnicodeDecodeError:
            yield None
            continue
        except EOFError:
            if lines:
                yield "\n".join(lines)
            return
        yield "\n".join(lines)


def _more_has_arrived() -> bool:
    if sys.platform == "win32":  # only sockets can be waited for there
        return False
    return bool(select.select([sys.stdin], [], [], _PASTE_WINDOW)[0])


def _edit_lines() -> None:
    """Give the prompt line editing and a history, where the platform has them.

    GNU readline then takes a paste as one line with breaks in it, which can still be edited.
    """
    with contextlib.suppress(ImportError):
        readline: Any = importlib.import_module("readline")
        readline.parse_and_bind("set enable-bracketed-paste on")
