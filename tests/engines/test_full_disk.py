"""While the disk is nearly full, embedded engines answer and store nothing; then they go on."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.ladybug.files import log_bytes
from fourtier.engines.vectors.edge import open_edge
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.process.disk import DiskReserve
from fourtier.runtime.service.stores.schemas import Fields
from tests.engines.graph_contract import ANN, READ, SCHEMA, create, row, things
from tests.engines.searching import similar
from tests.engines.vectors_contract import DIMENSIONS, point
from tests.engines.vectors_operations import EAST, ids

pytestmark = pytest.mark.processes

MB = 1_000_000
#: So long a log is moved into its file.
LOG = 1024 * 1024
NEARLY_FULL = r"has only 99 MB free, and 100 MB are needed.*make room"


class Disk:
    """A disk whose free room a test sets."""

    def __init__(self, directory: Path) -> None:
        self.free = 500 * MB
        self.reserve = DiskReserve(directory, 100, lambda _directory: self.free)


async def test_the_graph_reads_and_does_not_write(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    async with open_ladybug(tmp_path / "graph.lbug", SCHEMA, disk=disk.reserve) as store:
        await create(store, row("before"))
        disk.free = 99 * MB
        with pytest.raises(UnavailableError, match=NEARLY_FULL):
            await create(store, row("rejected"))
        assert await things(store) == ["before"]
        disk.free = 100 * MB
        await create(store, row("later"))
        assert await things(store) == ["before", "later"]


async def test_the_vectors_are_searched_and_not_written(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    async with open_edge(tmp_path / "shard", DIMENSIONS, Fields(), disk=disk.reserve) as store:
        await store.upsert(ANN, [point("before")])
        disk.free = 99 * MB
        for write in (
            store.upsert(ANN, [point("rejected")]),
            store.delete(ANN, ["before"]),
            store.delete_scope(ANN),
        ):
            with pytest.raises(UnavailableError, match=NEARLY_FULL):
                await write
        assert ids(await similar(store, ANN, EAST, 5)) == ["before"]
        disk.free = 100 * MB
        assert await store.delete(ANN, ["before"]) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 150 MB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=150m", "fourtier-test", str(directory)]
    if os.geteuid() != 0:
        pytest.skip("only root mounts file systems")
    if subprocess.run(mount, capture_output=True, check=False).returncode:  # noqa: S603 - our own
        pytest.skip("file systems cannot be mounted here")
    try:
        yield directory
    finally:
        subprocess.run(["/bin/umount", str(directory)], check=True)  # noqa: S603 - our own


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["vectors", "graph"])
def test_a_disk_that_really_fills_up_ends_no_process(small_disk: Path, engine: str) -> None:
    """Without a reserve the vectors end theirs by SIGBUS."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.engines.filling", engine, str(small_disk), "60"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "and 60 MB are needed" in done.stdout


async def test_a_checkpoint_that_a_full_disk_cuts_off_loses_nothing(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, rest = small_disk / "graph.lbug", small_disk / "rest"
    texts = [f"{number} " * 500 for number in range(8)]
    rows = [row("first")]

    async def write() -> None:
        more = [row(f"z {len(rows) + n:06}", text, n) for n, text in enumerate(texts)]
        await create(store, *more)
        rows.extend(more)
        await store.execute(lambda _: None)  # a checkpoint comes before it

    async with open_ladybug(file, SCHEMA) as store:
        await create(store, *rows)
        # Room for the log until it is moved into the file, and not for that.
        rest.write_bytes(bytes(shutil.disk_usage(small_disk).free - LOG - LOG // 10))
        while "cannot move its log" not in caplog.text:
            await write()
        assert f"The graph {file} cannot move its log into its file: IO exception" in caplog.text
        assert await store.read(ANN, READ) == rows
    rest.unlink()
    async with open_ladybug(file, SCHEMA) as store:
        assert await store.read(ANN, READ) == rows
        await write()
        assert log_bytes(file) < LOG
    async with open_ladybug(file, SCHEMA) as store:
        assert await store.read(ANN, READ) == rows
