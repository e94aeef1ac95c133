"""Run a command for as long as standard input is open: `guard.py LOG COMMAND...`.

The parent holds the other end of standard input. When the parent ends, even by `kill -9`, the
operating system closes it, and the command is ended too. A script of its own, so that it starts in
a few milliseconds and imports nothing of Fourtier.
"""

import subprocess
import sys
import threading
from pathlib import Path

_GRACE = 5.0


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def main() -> int:
    """Start the command, wait for it or for the end of standard input."""
    with Path(sys.argv[1]).open("ab") as log:
        child = subprocess.Popen(  # noqa: S603 - the parent's own command
            sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )

        def watch() -> None:
            sys.stdin.buffer.read()
            _end(child)

        threading.Thread(target=watch, daemon=True).start()
        return child.wait()


if __name__ == "__main__":
    sys.exit(main())
