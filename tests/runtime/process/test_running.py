"""The lock of a data directory, who can read it, and the note that says what runs there."""

import asyncio
import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from fourtier.runtime.errors import StartupError
from fourtier.runtime.process.data_lock import is_locked, locked_data
from fourtier.runtime.process.running import Running, announced, read_running

pytestmark = pytest.mark.processes

HOLDER = """
import sys
from pathlib import Path
from fourtier.runtime.process.data_lock import locked_data
from fourtier.runtime.process.running import Running, announced
data = Path(sys.argv[1])
with locked_data(data):
    note = Running(flow="f", bus_url="u", tenant="t", namespace="n", pid=int(sys.argv[2]),
                   health_port=1, services=())
    with announced(data, note):
        print("held", flush=True)
        sys.stdin.read()
"""


def running(pid: int) -> Running:
    return Running(
        flow="laptop",
        bus_url="pulsar://127.0.0.1:6650",
        tenant="fourtier",
        namespace="laptop",
        pid=pid,
        health_port=6680,
        services=("facts", "agent"),
    )


async def holder(data: Path, pid: int) -> asyncio.subprocess.Process:
    """Another process that holds the directory and has left its note."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        str(data),
        str(pid),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    return process


def test_a_directory_is_created_and_can_be_locked_again(tmp_path: Path) -> None:
    data = tmp_path / "a" / "b"
    for _ in range(2):
        with locked_data(data):
            assert is_locked(data)
            assert (data / "lock").read_text() == str(os.getpid())
        assert not is_locked(data)


async def test_the_error_of_a_second_flow_names_the_process_of_the_first(tmp_path: Path) -> None:
    other = await holder(tmp_path, 1)
    try:
        with (
            pytest.raises(StartupError, match=rf"in use by process {other.pid}: stop that flow"),
            locked_data(tmp_path),
        ):
            pass
    finally:
        assert other.stdin is not None
        other.stdin.close()
        await other.wait()
    with locked_data(tmp_path):
        pass


async def test_a_killed_flow_leaves_no_lock_and_its_note_is_ignored(tmp_path: Path) -> None:
    other = await holder(tmp_path, os.getpid())  # a process that is alive, and not that flow
    assert read_running(tmp_path).flow == "f"
    other.kill()
    await other.communicate()

    assert (tmp_path / "running.json").exists()
    with pytest.raises(StartupError, match="no flow is running"):
        read_running(tmp_path)
    with locked_data(tmp_path):
        pass


def test_a_directory_that_cannot_be_created_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StartupError, match=r"file/data cannot be used: Not a directory; name"),
        locked_data(tmp_path / "file" / "data"),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StartupError, match="Permission denied"), locked_data(tmp_path):
        pass


@pytest.mark.parametrize("existing", [False, True])
def test_a_directory_and_its_note_are_private(tmp_path: Path, *, existing: bool) -> None:
    data = tmp_path / "data"
    if existing:
        data.mkdir()
        data.chmod(0o755)
        (data / "running.new").touch(0o644)
    with locked_data(data), announced(data, running(1)):
        assert mode(data) == 0o700
        assert mode(data / "lock") == 0o600
        assert mode(data / "running.json") == 0o600


def test_a_shared_directory_stays_shared(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with locked_data(tmp_path):
        assert mode(tmp_path) == 0o1777


def test_a_directory_of_another_user_stays_as_it_is_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def reject(_path: Path, _mode: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", reject)
    with locked_data(tmp_path):
        assert mode(tmp_path) == 0o755
    assert f"Other users of this machine may read {tmp_path}: chmod 700 it." in caplog.messages


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_note_is_there_while_the_flow_runs(tmp_path: Path) -> None:
    with locked_data(tmp_path), announced(tmp_path, running(os.getpid())):
        assert read_running(tmp_path) == running(os.getpid())
    with pytest.raises(StartupError, match="no flow is running"):
        read_running(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_without_a_note_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        StartupError, match=rf"no flow is running at {tmp_path}/x: start one with `fourtier up`"
    ):
        read_running(tmp_path / "x")


def test_an_invalid_note_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "running.json").write_text("{")
    with locked_data(tmp_path), pytest.raises(StartupError, match="no flow is running"):
        read_running(tmp_path)


LOOKER = """
import sys
from pathlib import Path
from fourtier.runtime.process.data_lock import is_locked
print("looks", flush=True)
seen = 0
while not (Path(sys.argv[1]).parent / "stop").exists():
    seen += is_locked(Path(sys.argv[1]))
print(seen, flush=True)
"""


async def looker(data: Path) -> asyncio.subprocess.Process:
    """Another process that looks at the directory again and again; at the end it says how often."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LOOKER, str(data), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"looks\n"
    return process


async def test_looking_at_a_directory_stops_no_flow_from_starting(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with locked_data(data):
        pass
    lookers = [await looker(data) for _ in range(3)]
    try:
        for _ in range(300):
            with locked_data(data):
                assert is_locked(data)
    finally:
        (tmp_path / "stop").touch()
        await asyncio.gather(*(each.wait() for each in lookers))


async def test_those_who_look_do_not_take_each_other_for_a_flow(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with locked_data(data):
        pass
    lookers = [await looker(data) for _ in range(3)]
    try:
        assert not any(is_locked(data) for _ in range(2_000))
    finally:
        (tmp_path / "stop").touch()
        said = [(await each.communicate())[0] for each in lookers]
    assert said == [b"0\n"] * 3
