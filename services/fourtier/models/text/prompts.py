"""The texts that a service gives to a model, in files beside its code."""

from functools import cache
from importlib import resources


@cache
def read_prompt(package: str, name: str) -> str:
    """The text `prompts/{name}.md` of a package, without the line break at its end."""
    return resources.files(package).joinpath(f"prompts/{name}.md").read_text("utf-8").strip()
