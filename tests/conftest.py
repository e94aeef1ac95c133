"""Settings and fixtures of all tests."""

import asyncio
from collections.abc import Generator

import pytest

from tests.cluster.flows import delete_namespaces
from tests.cluster.servers import SERVERS
from tests.support.environment import (
    forget_settings,
    let_calls_take_their_time,
    let_examples_take_their_time,
    load_the_models_once,
    write_to_memory,
)

forget_settings()
let_examples_take_their_time()
let_calls_take_their_time()
load_the_models_once()
write_to_memory()

#: Seconds for a test on the cluster: each write waits for a disk there, and two Java machines share
#: the processors with the tests.
_TIMEOUT_ON_CLUSTER = 300
#: What other work on the machine can disturb.
_DISTURBED = ("cluster", "processes", "slow")


@pytest.fixture(scope="module", autouse=True)
def nothing_left_on_the_cluster() -> Generator[None]:
    """A flow that was ended is started again by its test, or by another of the same file."""
    yield
    asyncio.run(delete_namespaces())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests of processes and of the cluster a second attempt, and the latter more time."""
    for item in items:
        if any(item.get_closest_marker(each) for each in _DISTURBED):
            item.add_marker(pytest.mark.flaky(reruns=1))
        if SERVERS.flows and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_TIMEOUT_ON_CLUSTER))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that needed a second attempt, and what failed: mend or delete each at once."""
    for report in terminalreporter.getreports("rerun"):
        reason = (str(report.longrepr).strip().splitlines() or [""])[-1]
        failed = [line for line in report.longreprtext.splitlines() if line.startswith("E  ")]
        terminalreporter.write_line(
            f"FLAKY {report.nodeid}: {' '.join(failed[:1])} {reason}", yellow=True
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape lone surrogates in the logs of a test: no worker of pytest-xdist can send them."""
    report = yield
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]
    return report
