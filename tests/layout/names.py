"""The names and the words of the repository's files, split into their parts.

`KeptNote`, `kept_note` and `kept-note` all have the parts `kept` and `note`.
"""

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

TEXT = {".py", ".md", ".yaml", ".yml", ".toml", ".cypher", ".json"}
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: A setting, a metric, an error type, a property: a string that is one name.
_ONE_NAME = re.compile(r"[A-Za-z_][\w.:/-]*")
_IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
_KEY = re.compile(r"^\s*(?:- )?[\"']?([A-Za-z][\w.-]*)[\"']?\s*[:=]", re.MULTILINE)
_COMMENT = re.compile(r"//.*")


def parts(text: str) -> tuple[str, ...]:
    """The words of a name, or of any text, in lower case."""
    return tuple(part.lower() for part in _PART.findall(text))


def files(exempt: tuple[str, ...]) -> dict[Path, str]:
    """The texts of the repository, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = [Path(each) for each in listed if not each.startswith(exempt)]
    return {
        path: path.read_text("utf-8") for path in paths if path.suffix in TEXT and path.exists()
    }


def names(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """What a file gives a name to or calls by its name, each with its line; 0: the file's own name.

    Names of tests are sentences and so are not among them.
    """
    yield 0, path.stem
    if path.suffix == ".py":
        yield from _python(text)
        return
    pattern = _IN_BACKTICKS if path.suffix == ".md" else _KEY
    if path.suffix == ".cypher":
        text, pattern = _COMMENT.sub("", text), re.compile(r"(\w+)")
    for found in pattern.finditer(text):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def _python(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not token.string.startswith("test_"):
            yield token.start[0], token.string
        elif token.type == tokenize.STRING:
            content = token.string.lstrip("rbfRBF").strip("\"'")
            if _ONE_NAME.fullmatch(content) and parts(content) != (content,):
                yield token.start[0], content
