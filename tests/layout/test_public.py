"""Four packages are public, and each says what it exports."""

from importlib import import_module

import pytest

PUBLIC = ["fourtier.client", "fourtier.runtime.service", "fourtier.schema", "fourtier.tools"]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_package_exports_what_it_says(name: str) -> None:
    package = import_module(name)

    assert package.__all__ == sorted(package.__all__)
    assert not [each for each in package.__all__ if not hasattr(package, each)]
