"""Puts new files in the place of a store's old ones, so that a crash leaves either, whole.

The new ones are made in a draft beside the store. A file is replaced in one step. A directory that
is not empty cannot be: the old one is moved away first, and `finish_replacing` finishes what a
crash cut off. A draft counts only once the old directory is out of its way, so that half a draft is
never taken.
"""

import os
import shutil
from pathlib import Path


def draft_of(path: Path) -> Path:
    """The directory in which the new files of a store are made."""
    return path.with_name(f"{path.name}.rewritten")


def _old_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.replaced")


def finish_replacing(path: Path) -> None:
    """Finish what a crash cut off; call before a directory is opened, and where a swap failed."""
    draft, old = draft_of(path), _old_of(path)
    if old.exists() and not path.exists():
        (draft if draft.exists() else old).rename(path)
        _sync(path.parent)


def remove_leftovers(path: Path) -> None:
    """Remove a draft and an old directory; the store itself must be there, and ours."""
    for left in (draft_of(path), _old_of(path)):
        if left.exists():
            shutil.rmtree(left)


def replace_directory(path: Path) -> None:
    """Put the draft in the place of a store's directory; both must be closed.

    The old one stays until `remove_leftovers`.
    """
    draft = draft_of(path)
    _sync_all(draft)
    path.rename(_old_of(path))
    draft.rename(path)
    _sync(path.parent)


def replace_file(path: Path) -> None:
    """Put the file of the same name in the draft in the place of a store's file."""
    new = draft_of(path) / path.name
    _sync(new)
    new.replace(path)
    _sync(path.parent)
    shutil.rmtree(draft_of(path))


def _sync_all(directory: Path) -> None:
    for path in directory.rglob("*"):
        _sync(path)
    _sync(directory)


def _sync(path: Path) -> None:
    """Wait until the disk has a file, or the entries of a directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
