"""A disk that fills up is noticed before the system ends the process."""

import logging
from pathlib import Path

import pytest
from aiohttp import ClientSession

from fourtier.engines.opening import FlowStores
from fourtier.runtime.bus.opening import BusConfig
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.process.disk import DiskReserve, watched_disk
from fourtier.runtime.process.flow_process import ProcessPlan, flow_process
from fourtier.runtime.process.host import HostPlan
from fourtier.runtime.service.engines import EnginesConfig
from fourtier.runtime.settings import Settings
from tests.support.waiting import wait_until

MB = 1_000_000


class Disk:
    """A disk whose free room a test sets."""

    def __init__(self, directory: Path, free: int, reserve: int = 100) -> None:
        self.free = free
        self.reserve = DiskReserve(directory, reserve, lambda _directory: self.free * MB)


def test_a_flow_does_not_start_on_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    Disk(tmp_path, 200).reserve.check_start()
    with pytest.raises(
        StartupError,
        match=rf"disk of {tmp_path} has only 199 MB free, and 200 MB are needed .*FOURTIER_DATA",
    ):
        Disk(tmp_path, 199).reserve.check_start()


def test_writes_are_unavailable_below_the_reserve(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 100)
    disk.reserve.check_write()
    assert disk.reserve.problem() == ""
    disk.free = 99
    with pytest.raises(UnavailableError, match=r"only 99 MB free.*make room on it"):
        disk.reserve.check_write()
    assert "only 99 MB" in disk.reserve.problem()


def test_a_reserve_of_nothing_checks_nothing(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 0, reserve=0)
    disk.reserve.check_start()
    disk.reserve.check_write()


def test_the_real_disk_is_asked(tmp_path: Path) -> None:
    DiskReserve(tmp_path, 1).check_write()
    with pytest.raises(UnavailableError):
        DiskReserve(tmp_path, 10**12).check_write()


async def test_running_out_of_room_is_logged_once_and_so_is_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(tmp_path, 500)

    def messages(level: int) -> list[str]:
        return [record.message for record in caplog.records if record.levelno == level]

    with caplog.at_level(logging.INFO):
        async with watched_disk(disk.reserve, seconds=0.01):
            disk.free = 10
            await wait_until(lambda: bool(messages(logging.ERROR)))
            disk.free = 500
            await wait_until(lambda: bool(messages(logging.INFO)))
    (error,) = messages(logging.ERROR)
    assert "only 10 MB free" in error
    assert "Messages wait on the bus" in error
    assert "There is room on the disk again" in messages(logging.INFO)[0]


def process_plan(data: Path, reserve: int) -> ProcessPlan:
    settings = Settings()
    stores = FlowStores(EnginesConfig(disk_reserve_mb=reserve), settings)
    return ProcessPlan(
        flow="small",
        bus=BusConfig("memory://", "fourtier", "small", data, 0),
        host=HostPlan({}, (), stores, data, settings),
        health_port=0,
    )


async def test_a_process_checks_its_disk_when_it_starts(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match=r"MB free, and 2000000000 MB are needed"):
        async with flow_process(process_plan(tmp_path, 10**9)):
            pass


async def test_ready_says_that_the_disk_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with flow_process(process_plan(tmp_path, 1)) as process, ClientSession() as session:
        url = f"http://127.0.0.1:{process.health_port}/ready"
        async with session.get(url) as answer:
            assert (answer.status, await answer.text()) == (200, "ready\n")
        monkeypatch.setattr(DiskReserve, "problem", lambda _self: "the disk is nearly full")
        async with session.get(url) as answer:
            assert (answer.status, await answer.text()) == (503, "the disk is nearly full\n")
