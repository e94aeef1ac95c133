"""The bus contract on `memory://`."""

import pytest

from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.memory import MemoryBus
from tests.runtime.bus.bus_contract import BusContract


class TestMemoryBus(BusContract):
    @pytest.fixture
    def bus(self) -> Bus:
        return MemoryBus()
