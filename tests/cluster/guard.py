"""Run a command for as long as standard input is open: `guard.py LOG COMMAND...`.

The parent holds the other end: when it ends, even by `kill -9`, so does the command.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

_GRACE = 10.0


def main() -> int:
    """Start the command, wait for it or for the end of standard input."""
    with Path(sys.argv[1]).open("ab") as log:
        child = subprocess.Popen(  # noqa: S603 - the parent's own command
            sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )

    def watch() -> None:
        # Not by `sys.stdin`, whose lock would abort us when the child ends first.
        while os.read(sys.stdin.fileno(), 1_024):
            pass
        child.terminate()
        try:
            child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=watch, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
