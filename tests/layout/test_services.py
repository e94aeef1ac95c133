"""A service imports no other service: it knows the others by their messages."""

import ast
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from fourtier.runtime.service.registry import GROUP

ROOT = Path("services")
PACKAGES = {
    entry.name: entry.value.partition(":")[0].rpartition(".")[0]
    for entry in entry_points(group=GROUP)
    if entry.value.startswith("fourtier.")
}


def imported(file: Path) -> set[str]:
    """Every module that a file names in an import, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


@pytest.mark.parametrize("service", sorted(PACKAGES))
def test_a_service_imports_no_other(service: str) -> None:
    own = PACKAGES[service]
    # `fourtier.models.embeddings.client` is the library by which others ask the service.
    others = {f"{package}.service" for package in PACKAGES.values() if package != own}
    others |= {
        package
        for package in PACKAGES.values()
        if package != own and not package.startswith("fourtier.models.")
    }
    for file in (ROOT / own.replace(".", "/")).rglob("*.py"):
        wrong = {
            name
            for name in imported(file)
            for other in others
            if name == other or name.startswith(f"{other}.")
        }
        assert not wrong, f"{file} imports {', '.join(sorted(wrong))}"


def test_every_service_declares_itself_in_one_file() -> None:
    for package in PACKAGES.values():
        assert (ROOT / package.replace(".", "/") / "service.py").is_file()
