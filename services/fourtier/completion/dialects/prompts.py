"""The texts that dialects add to a prompt, in files beside the code."""

from functools import cache
from importlib import resources


@cache
def read_prompt(name: str) -> str:
    """A text of `prompts/`, without the line break at its end."""
    place = resources.files("fourtier.completion").joinpath(f"prompts/{name}.md")
    return place.read_text("utf-8").strip()
