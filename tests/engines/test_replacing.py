"""A crash at each step of putting new files in the place of old ones leaves a whole store."""

from pathlib import Path

import pytest

from fourtier.engines.replacing import draft_of, finish_replacing, remove_leftovers


def make(directory: Path, content: str) -> None:
    directory.mkdir()
    (directory / "file").write_text(content)


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        ({"": "old", ".rewritten": "half"}, "old"),  # while the copy was made
        ({".replaced": "old", ".rewritten": "new"}, "new"),  # between the two renames
        ({"": "new", ".replaced": "old"}, "new"),  # before the old one was removed
        ({".replaced": "old"}, "old"),
    ],
)
def test_a_crash_while_a_directory_is_replaced_leaves_one_of_them_whole(
    tmp_path: Path, left: dict[str, str], expected: str
) -> None:
    store = tmp_path / "shard"
    for suffix, content in left.items():
        make(tmp_path / f"shard{suffix}", content)

    finish_replacing(store)
    assert (store / "file").read_text() == expected
    remove_leftovers(store)

    assert [path.name for path in tmp_path.iterdir()] == ["shard"]
    assert not draft_of(store).exists()
