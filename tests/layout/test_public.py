"""Four packages are public: documents use no others, and each says what it exports."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PUBLIC = ["fourtier.client", "fourtier.runtime.service", "fourtier.schema", "fourtier.tools"]
#: A module of the messages is public with its package; so is an entry point's own path.
WITH_MODULES = "fourtier.schema."
DOCUMENTS = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").glob("*.md"))]
_IMPORT = re.compile(r"^\s*(?:from|import) (fourtier[\w.]*)", re.MULTILINE)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_package_says_so_and_what_it_exports(name: str) -> None:
    package = import_module(name)

    assert (package.__doc__ or "").startswith("Public: "), f"{name} does not say that it is public"
    assert package.__all__ == sorted(package.__all__)
    assert not [each for each in package.__all__ if not hasattr(package, each)]


def test_no_other_package_says_that_it_is_public() -> None:
    said = {
        ".".join(file.parent.parts[1:])
        for root in ("schema", "services", "flows")
        for file in Path(root).rglob("__init__.py")
        if file.read_text("utf-8").startswith('"""Public: ')
    }

    assert sorted(said) == PUBLIC


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_documents_use_only_public_packages(document: Path) -> None:
    used = set(_IMPORT.findall(document.read_text("utf-8")))

    assert not [name for name in used if name not in PUBLIC and not name.startswith(WITH_MODULES)]
