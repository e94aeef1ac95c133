"""The bus of tests that hold for calls by the broker and for those within a process."""

import pytest

from fourtier.runtime.bus.local import LocalCalls
from fourtier.runtime.bus.memory import MemoryBus


@pytest.fixture(params=["by-broker", "local"])
def bus(request: pytest.FixtureRequest) -> MemoryBus:
    """One on which everything is published, and one on which calls go from hand to hand."""
    return MemoryBus(LocalCalls() if request.param == "local" else None)
