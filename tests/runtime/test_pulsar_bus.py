"""The bus contract on the embedded broker, and on a real Pulsar when one is named."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.embedded import embedded_broker
from fourtier.runtime.bus.pulsar import Patience, PulsarSecurity, connect_pulsar
from tests.cluster.servers import SERVERS
from tests.runtime.bus_contract import BusContract

#: Short, since a member that is refused is told so only when it ends.
PATIENCE = Patience(send=5, operation=2)


class TestEmbeddedBus(BusContract):
    @pytest.fixture
    async def bus(self, tmp_path: Path) -> AsyncGenerator[Bus]:
        async with (
            embedded_broker(tmp_path, 0) as url,
            connect_pulsar(
                url,
                "fourtier",
                "test",
                security=PulsarSecurity(),
                log_file=str(tmp_path / "client.log"),
                patience=PATIENCE,
            ) as bus,
        ):
            yield bus


@pytest.mark.cluster
@pytest.mark.skipif(not SERVERS.pulsar_url, reason="FOURTIER_TEST_PULSAR_URL names no Pulsar")
class TestPulsarBus(BusContract):
    @pytest.fixture
    async def bus(self, tmp_path: Path) -> AsyncGenerator[Bus]:
        async with connect_pulsar(
            SERVERS.pulsar_url or "",
            "public",
            "default",
            security=PulsarSecurity(),
            log_file=str(tmp_path / "client.log"),
        ) as bus:
            yield bus
