"""What holds for all tests."""

from pathlib import Path

import pytest

from tests.cluster.servers import SERVERS

_TESTS = Path(__file__).parent
_SERVICES = Path("services/fourtier")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make `-m cluster` take the tests of flows too when flows are to run on the cluster."""
    if not SERVERS.flows:
        return
    for item in items:
        room = item.path.relative_to(_TESTS).parts[0]
        if room == "road" or (_SERVICES / room / "service.py").is_file():
            item.add_marker("cluster")
