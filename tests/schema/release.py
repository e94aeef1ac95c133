"""`python -m tests.schema.release`: keep the messages of the version that is about to be released.

Run at a release, after the version in pyproject.toml was raised. `--again` writes the file of the
present version anew, which is right only as long as that version is not out.
"""

import sys
import tomllib
from pathlib import Path

from tests.schema.compatibility import incompatible
from tests.schema.snapshot import RELEASED, as_text, last_released, present


def main(arguments: list[str]) -> int:
    """Write the file, unless what it would say breaks what was released; the exit code."""
    version = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["version"]
    file = RELEASED / f"{version}.json"
    again = arguments == ["--again"]
    if arguments and not again:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if file.exists() and not again:
        sys.stderr.write(
            f"{file} is there: raise the version in pyproject.toml first, "
            f"or write it --again as long as {version} is not out\n"
        )
        return 1
    if any(RELEASED.glob("*.json")) and not again:
        broken = incompatible(last_released(), present())
        if broken:
            sys.stderr.write("\n".join(["This version would break the last one:", *broken, ""]))
            return 1
    RELEASED.mkdir(exist_ok=True)
    file.write_text(as_text(present(version)), "utf-8")
    sys.stdout.write(f"{file} is written: commit it with the release.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
