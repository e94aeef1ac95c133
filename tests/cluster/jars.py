"""The servers' jars from Maven Central, fetched once into `.tools/`."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_CACHE = Path(".tools/cluster")
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
#: One file of some hundreds may fail to arrive; the next attempt fetches only what is missing.
_ATTEMPTS = 3


class MissingToolError(Exception):
    """Java or Maven is not there, or Maven could not fetch; the text says what to do."""


def jars(name: str) -> str:
    """The class path of what `NAME/pom.xml` names.

    Raises:
        MissingToolError: what fetching needs is missing, or it failed.
    """
    pom = _HERE / name / "pom.xml"
    cached = _CACHE / f"{name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"
    if not cached.is_dir():
        _fetch(name, pom, cached)
    return f"{cached.resolve()}/*"


def _fetch(name: str, pom: Path, cached: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingToolError(
            "Maven is missing, which fetches Pulsar and Neo4j: install it, on Debian with "
            "apt-get install maven"
        )
    sys.stderr.write(f"Setting up: {name} from Maven Central into {cached}/ (once)\n")
    unfinished = cached.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [maven, "-B", "-q", "-f", str(pom), _COPY, "-DincludeScope=runtime"]
    command.append(f"-DoutputDirectory={unfinished.resolve()}")
    for _ in range(_ATTEMPTS):
        done = subprocess.run(  # noqa: S603 - our own command
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode == 0:
            unfinished.rename(cached)
            return
    raise MissingToolError(f"Maven could not fetch {name}:\n{done.stdout}")


def java() -> str:
    """The `java` to run, seen to be new enough.

    Raises:
        MissingToolError: there is none, or it is older than the servers need.
    """
    advice = "install a JDK of version 17 or newer, on Debian with apt-get install openjdk-17-jdk"
    found = shutil.which("java")
    if found is None:
        raise MissingToolError(f"Java is missing, which runs Pulsar and Neo4j: {advice}")
    printed = subprocess.run(  # noqa: S603 - our own command
        [found, "-version"], capture_output=True, text=True, check=False
    ).stderr
    version = printed.partition('"')[2].partition('"')[0]
    if not version or int(version.partition(".")[0]) < 17:
        raise MissingToolError(f"Java {version or 'of an unknown version'} is too old: {advice}")
    return found
