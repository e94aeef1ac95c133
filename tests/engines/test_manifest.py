"""Checksums of an embedded store: whatever changes in a file that is mostly holes is noticed."""

import os
from pathlib import Path

import pytest

from fourtier.engines.manifest import Manifest
from fourtier.runtime.errors import StartupError

BLOCK = 65_536
#: Where something is written: in the first block, across two, and at the very end.
WRITTEN = (10, 40 * BLOCK - 3, 100 * BLOCK)
SIZE = 128 * BLOCK


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory as an engine leaves it: a file of 8 MB in which little is written."""
    directory = tmp_path / "vectors"
    directory.mkdir()
    with (directory / "page.dat").open("wb") as file:
        file.truncate(SIZE)
        for place in WRITTEN:
            file.seek(place)
            file.write(b"written")
    return directory


@pytest.fixture
def manifest(store: Path) -> Manifest:
    manifest = Manifest("the index", store)
    manifest.closed()
    return manifest


def change(store: Path, place: int, content: bytes) -> None:
    with (store / "page.dat").open("r+b") as file:
        file.seek(place)
        file.write(content)


@pytest.mark.parametrize("place", WRITTEN)
def test_what_changes_in_any_part_is_noticed(store: Path, manifest: Manifest, place: int) -> None:
    change(store, place + 6, b"N")
    with pytest.raises(StartupError, match=r"damaged.*page\.dat"):
        manifest.check()


@pytest.mark.parametrize("place", WRITTEN)
def test_what_is_lost_of_it_is_noticed(store: Path, manifest: Manifest, place: int) -> None:
    change(store, place, bytes(7))
    with pytest.raises(StartupError, match="damaged"):
        manifest.check()


def test_what_comes_into_a_hole_is_noticed(store: Path, manifest: Manifest) -> None:
    change(store, 70 * BLOCK, b"x")
    with pytest.raises(StartupError, match="damaged"):
        manifest.check()


def test_another_size_is_noticed(store: Path, manifest: Manifest) -> None:
    os.truncate(store / "page.dat", SIZE - 1)
    with pytest.raises(StartupError, match="damaged"):
        manifest.check()


def test_a_copy_without_holes_is_the_same(store: Path, manifest: Manifest) -> None:
    file = store / "page.dat"
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    assert file.stat().st_blocks * 512 >= SIZE
    assert manifest.check()


def test_where_holes_cannot_be_told_the_checksums_are_the_same(
    manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "SEEK_DATA")
    assert manifest.check()
