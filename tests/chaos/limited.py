"""`limited.py BYTES COMMAND...`: run a command whose files cannot grow beyond so many bytes.

To it that is a full disk: what it writes beyond that fails. It needs no rights that a test has not.
"""

import os
import resource
import sys

if __name__ == "__main__":
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - our own command
