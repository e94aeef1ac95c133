"""`make deployment`: write the generated deployment files, or check that they are up to date."""

import argparse
import sys
from pathlib import Path

from fourtier.flows.model import FlowError, read_flow
from fourtier.operations.deployment.files import differences, write
from fourtier.runtime.errors import StartupError

#: The flow that the image, docker-compose.yaml and k8s/ deploy.
_FLOW = "cluster"
_DIFFERS, _CANNOT_START = 1, 2


def main() -> int:
    """Run the command; the exit code is 1 where `--check` finds a difference, 2 after an error."""
    parser = argparse.ArgumentParser(prog="make deployment", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; print what would change, and exit 1"
    )
    check = parser.parse_args().check
    try:
        return _check(Path.cwd()) if check else _write(Path.cwd())
    except (FlowError, StartupError) as error:
        sys.stderr.write(f"{error}\n")
        return _CANNOT_START


def _check(root: Path) -> int:
    found = list(differences(read_flow(_FLOW), root))
    sys.stdout.writelines(found)
    if found:
        sys.stderr.write("The deployment files are not up to date: run `make deployment`.\n")
    return _DIFFERS if found else 0


def _write(root: Path) -> int:
    write(read_flow(_FLOW), root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
