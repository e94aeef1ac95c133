"""The bus contract on the embedded broker, and on a real Pulsar when one is named."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import Address, Bus, BusError, Mode
from fourtier.runtime.bus.embedded.broker import embedded_broker
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, Timeouts, connect_pulsar
from tests.cluster.servers import SERVERS
from tests.runtime.bus.bus_contract import BusContract

#: A consumer that is rejected gets the error only when this ends.
REJECTED = Timeouts(operation=5)


class TestEmbeddedBus(BusContract):
    shares_keys = False

    @pytest.fixture
    def timeouts(self) -> Timeouts:
        return Timeouts()

    @pytest.fixture
    async def bus(self, tmp_path: Path, timeouts: Timeouts) -> AsyncGenerator[Bus]:
        async with (
            embedded_broker(tmp_path, 0) as broker,
            connect_pulsar(
                broker.url,
                "fourtier",
                "test",
                security=PulsarSecurity(token=broker.token),
                log_file=str(tmp_path / "client.log"),
                timeouts=timeouts,
            ) as bus,
        ):
            yield bus

    @pytest.mark.parametrize("timeouts", [REJECTED], ids=["short"])
    async def test_an_exclusive_group_has_one_consumer(self, bus: Bus, topic: Address) -> None:
        await super().test_an_exclusive_group_has_one_consumer(bus, topic)

    async def test_a_group_that_keeps_order_has_one_consumer_after_another(
        self, bus: Bus, topic: Address
    ) -> None:
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED):
            with pytest.raises(BusError, match="workers has a consumer in this process"):
                async with bus.subscribe(topic, "workers", Mode.KEY_SHARED):
                    pass
            async with bus.subscribe(topic, "others", Mode.KEY_SHARED) as other:
                await bus.publish(topic, b"x", key="a")
                assert (await other.receive()).payload == b"x"
        async with bus.subscribe(topic, "workers", Mode.KEY_SHARED) as heir:
            assert (await heir.receive()).payload == b"x"


@pytest.mark.cluster
@pytest.mark.skipif(not SERVERS.pulsar_url, reason="FOURTIER_TEST_PULSAR_URL names no Pulsar")
class TestPulsarBus(BusContract):
    #: Pulsar 4.0 counts only what a consumer has given back itself, not what it had when it left.
    marks_redelivered = False

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
