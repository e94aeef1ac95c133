"""The short form of `make chaos`: kills, a replay, a forget; nothing lost, doubled or back."""

from pathlib import Path

import pytest

from tests.chaos.endurance import endure_all
from tests.chaos.faults import killed
from tests.chaos.forgetting import forgetting
from tests.chaos.redelivery import redelivered
from tests.chaos.replay import replayed
from tests.cluster.servers import SERVERS

pytestmark = pytest.mark.slow

#: Each kill costs the seconds in which a service starts, so embeddings and the like are left out.
KILLED = ("agent", "working-memory", "completion", "facts", "conversations", "extraction")
#: Conversations end in the seconds of a redelivery, so that there is something to deliver again.
RUNS = 80


@pytest.mark.timeout(500)
async def test_nothing_is_lost_or_doubled_on_the_embedded_engines(tmp_path: Path) -> None:
    faults = [
        *map(killed, KILLED),
        killed("pulsar-lite", lasts=1.0),
        redelivered(times=1, lasts=4.0),
        replayed(times=1),
        forgetting("facts", times=1),
    ]
    trial = await endure_all(tmp_path, faults, RUNS)
    assert trial.passed, trial.report


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="needs Java: make test-cluster")
@pytest.mark.timeout(500)
async def test_nothing_is_lost_or_doubled_on_pulsar_and_neo4j(tmp_path: Path) -> None:
    faults = [killed("agent"), killed("pulsar", lasts=2.0), killed("neo4j", lasts=2.0)]
    trial = await endure_all(tmp_path, faults, RUNS, cluster=True)
    assert trial.passed, trial.report
