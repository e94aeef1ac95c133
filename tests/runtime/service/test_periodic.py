"""Repeated work of a service: goes on after a failure, ends with its context."""

import asyncio

import pytest

from fourtier.runtime.service.periodic import periodic
from tests.support.waiting import wait_until


async def test_a_job_that_fails_is_logged_and_run_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs = 0

    async def job() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise ConnectionResetError("the graph is unavailable")

    async with periodic("The sweep", 0.001, job):
        await wait_until(lambda: runs >= 3)

    assert "The sweep failed" in caplog.text
    assert "the graph is unavailable" in caplog.text


async def test_the_end_of_the_context_ends_a_job_in_the_middle() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def job() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with periodic("The sweep", 0.001, job):
        await begun.wait()

    assert ended.is_set()
