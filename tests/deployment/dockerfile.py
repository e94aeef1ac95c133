"""The Dockerfile, instruction by instruction."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One `FROM` and the instructions after it: keyword and the rest of the line."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, keyword: str) -> list[str]:
        """The arguments of every instruction of a kind."""
        return [rest for name, rest in self.instructions if name == keyword]

    def environment(self) -> dict[str, str]:
        """The variables that `ENV` sets."""
        pairs = (re.findall(r"(\w+)=(\S+)", rest) for rest in self.all("ENV"))
        return {name: value for found in pairs for name, value in found}


def stages() -> list[Stage]:
    """The stages in their order."""
    text = Path("Dockerfile").read_text("utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found: list[Stage] = []
    for line in lines.replace("\\\n", " ").splitlines():
        keyword, _, rest = line.strip().partition(" ")
        if keyword == "FROM":
            found.append(Stage(rest.split(" ")[0]))
        elif keyword:
            found[-1].instructions.append((keyword, " ".join(rest.split())))
    return found


def health_command(port: int) -> list[str]:
    """The command of `HEALTHCHECK`, for another port than that of the image."""
    (check,) = stages()[-1].all("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    return [part.replace(":6680/", f":{port}/") for part in command]
