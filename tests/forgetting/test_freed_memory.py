"""What a process had in its memory before does not get into the files of its stores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forgetting.bytes import canary, find

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("engine", ["graph", "vectors"])
def test_no_freed_memory_is_written_to_a_store(tmp_path: Path, engine: str) -> None:
    """LadybugDB writes whole pages, of which it has set a part."""
    word = canary()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.forgetting.remembering", engine, str(tmp_path), word],
        capture_output=True,
        text=True,
        check=False,
        # One heap for all threads: the memory of the first is handed out to those of an engine.
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert any(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    assert find(tmp_path, [word]) == []
