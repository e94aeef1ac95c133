"""Run a command for as long as standard input is open: `guard.py LOCK LOG COMMAND...`.

The parent holds the other end of standard input. When the parent ends, even by `kill -9`, the
operating system closes it, and the command is ended too. LOCK is an open file descriptor with a
lock on it, which is held until both this script and the command have ended. A script of its own, so
that it starts in a few milliseconds and imports nothing of Fourtier.
"""

import os
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
    lock = int(sys.argv[1])
    with Path(sys.argv[2]).open("ab") as log:
        child = subprocess.Popen(  # noqa: S603 - the parent's own command
            sys.argv[3:],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[lock],
        )
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(child.pid).encode(), 0)

        def watch() -> None:
            sys.stdin.buffer.read()
            _end(child)

        threading.Thread(target=watch, daemon=True).start()
        return child.wait()


if __name__ == "__main__":
    sys.exit(main())
