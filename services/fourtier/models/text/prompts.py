"""The texts that a service gives to a model: files beside its code, or what a flow has instead.

services:
  agent:
    prompts:
      system: You are the assistant of a bicycle shop.     # the text itself
      finish: {file: /etc/fourtier/prompts/finish.md}      # or a file that has it
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fourtier.runtime.config import Config
from fourtier.runtime.errors import StartupError


class PromptFile(Config):
    """A file with the text of a prompt; a relative path begins at the working directory."""

    file: Path


#: What a flow gives instead of a service's own prompt.
Prompt = Annotated[str, Field(min_length=1)] | PromptFile

#: Several, by the names that the parameters of the service declare.
Prompts = Mapping[Any, Prompt]


def read_prompt(package: str, name: str, instead: Prompt | None = None) -> str:
    """The text `prompts/{name}.md` of a package, or what a flow has instead, without outer space.

    Raises:
        StartupError: the flow names a file that cannot be read, or is empty.
    """
    if instead is None:
        return _own(package, name)
    text = instead.strip() if isinstance(instead, str) else _read(instead.file).strip()
    if not text:
        raise StartupError(f"the prompt {name!r} is empty")
    return text


@cache
def _own(package: str, name: str) -> str:
    return resources.files(package).joinpath(f"prompts/{name}.md").read_text("utf-8").strip()


@cache
def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"the prompt file {file} cannot be read: {error}") from error
