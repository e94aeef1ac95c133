"""What holds for all tests."""

import asyncio
from collections.abc import Generator

import pytest

from tests.cluster.flows import delete_namespaces
from tests.cluster.servers import SERVERS
from tests.support.environment import (
    forget_settings,
    let_calls_take_their_time,
    let_examples_take_their_time,
    load_the_model_once,
    write_to_memory,
)
from tests.support.flow import running_flow

forget_settings()
let_examples_take_their_time()
let_calls_take_their_time()
load_the_model_once()
write_to_memory()

#: They start flows of their own, name the port of the embedded broker, read the files of the
#: embedded engines, or name those of their code.
_EMBEDDED = {
    "test_command.py",
    "test_cost_of_a_turn.py",
    "test_data_directory.py",
    "test_kill.py",
    "test_lost_index.py",
    "test_kill_research.py",
    "test_two_megabytes.py",
    "test_walk.py",
    "test_wire.py",
}
#: Each write waits for a disk there, and two Java machines share the processors with the tests.
_TIMEOUTS = 300


@pytest.fixture(scope="module", autouse=True)
def nothing_left_on_the_cluster() -> Generator[None]:
    """A flow that was ended is started again by its test, or by another of the same file."""
    yield
    asyncio.run(delete_namespaces())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make `-m cluster` take the tests that run flows, where those are to run on the cluster."""
    if SERVERS.flows:
        for item in items:
            if isinstance(item, pytest.Function) and _runs_flows(item):
                item.add_marker("cluster")
                item.add_marker(pytest.mark.timeout(_TIMEOUTS))


def _runs_flows(item: pytest.Function) -> bool:
    """Whether the file of a test, or a function that it imports, knows `running_flow`."""
    return item.path.name not in _EMBEDDED and any(
        getattr(value, "__globals__", {}).get("running_flow") is running_flow
        for value in vars(item.module).values()
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
