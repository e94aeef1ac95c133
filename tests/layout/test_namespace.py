"""The two rules of the namespace package that no type checker notices."""

from pathlib import Path

ROOTS = [Path("schema/fourtier"), Path("services/fourtier"), Path("flows/fourtier")]


def test_no_root_has_an_init() -> None:
    assert not [root for root in ROOTS if (root / "__init__.py").exists()]


def test_every_child_is_a_typed_package() -> None:
    children = [child for root in ROOTS for child in root.iterdir() if child.name != "__pycache__"]
    assert children
    assert not [child for child in children if not (child / "__init__.py").is_file()]
    assert not [child for child in children if not (child / "py.typed").is_file()]
