"""The short form of `make chaos`: a kill of each, and nothing is lost or doubled."""

from pathlib import Path

import pytest

from tests.chaos.endurance import endure_all
from tests.chaos.faults import killed
from tests.cluster.servers import SERVERS

#: Each kill costs the seconds in which a service starts, so embeddings and the like are left out.
KILLED = ("agent", "working-memory", "completion", "facts", "conversations", "extraction")
RUNS = 56


@pytest.mark.timeout(500)
async def test_nothing_is_lost_or_doubled_on_the_embedded_engines(tmp_path: Path) -> None:
    faults = [*map(killed, KILLED), killed("pulsar-lite", lasts=1.0)]
    trial = await endure_all(tmp_path, faults, RUNS)
    assert trial.passed, trial.report


@pytest.mark.cluster
@pytest.mark.skipif(SERVERS.neo4j_url is None, reason="needs Java: make test-cluster")
@pytest.mark.timeout(500)
async def test_nothing_is_lost_or_doubled_on_pulsar_and_neo4j(tmp_path: Path) -> None:
    faults = [killed("agent"), killed("pulsar", lasts=2.0), killed("neo4j", lasts=2.0)]
    trial = await endure_all(tmp_path, faults, RUNS, cluster=True)
    assert trial.passed, trial.report
