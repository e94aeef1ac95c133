"""What a person types or pastes at a terminal: a paste of several lines is one message."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

#: Prints each message as Python writes it, so that breaks inside of one are seen.
READER = """
import asyncio
from fourtier.interfaces.cli.input import input_messages

async def read():
    async for message in input_messages("> "):
        print(f"<{message!r}>", flush=True)
        if message == "bye":
            return

asyncio.run(read())
"""
#: As a Python whose standard library was built without readline.
WITHOUT_READLINE = "import sys; sys.modules['readline'] = None\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")


class Terminal:
    """A pseudo-terminal with the reader on it."""

    def __init__(self, master: int) -> None:
        self.master = master
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str) -> None:
        """Read what is shown until a text is; fail when nothing more comes."""
        while text not in self.shown:
            assert select.select([self.master], [], [], 30)[0], self.shown
            self.shown += os.read(self.master, 4096).decode()


@contextmanager
def terminal(program: str) -> Generator[Terminal]:
    master, slave = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=os.environ | {"TERM": "xterm"},
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@pytest.mark.parametrize("program", [READER, WITHOUT_READLINE + READER])
def test_lines_that_arrive_at_once_are_one_message(program: str) -> None:
    with terminal(program) as person:
        person.wait_for("> ")
        person.type("first line\nsecond line\nthird line\n")
        person.wait_for(r"<'first line\nsecond line\nthird line'>")
        person.type("alone\n")
        person.wait_for("<'alone'>")
        person.type("bye\n")
        person.wait_for("<'bye'>")


def test_a_bracketed_paste_is_one_message() -> None:
    with terminal(READER) as person:
        person.wait_for("> ")
        if "\x1b[?2004h" not in person.shown:
            pytest.skip("this Python's readline knows no bracketed paste")
        person.type("\x1b[200~first line\nsecond line\x1b[201~")
        person.type("\n")
        person.wait_for(r"<'first line\nsecond line'>")
