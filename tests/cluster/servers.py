"""Servers that tests may use: those whose URLs are in the environment."""

import os

from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Servers(BaseSettings):
    """`FOURTIER_TEST_PULSAR_URL` and the like; `make test-cluster` starts Pulsar and Neo4j.

    Attributes:
        neo4j_url: one of several, separated by commas, for each process of the tests: a server has
            one database, which flows empty.
        flows: run the flows of all tests on these servers; the graph is emptied for each test.
    """

    model_config = SettingsConfigDict(env_prefix="FOURTIER_TEST_", extra="ignore")

    pulsar_url: str | None = None
    pulsar_admin_url: str | None = None
    neo4j_url: str | None = None
    qdrant_url: str | None = None
    qdrant_key: str | None = None
    flows: bool = False

    @field_validator("neo4j_url")
    @classmethod
    def _of_this_process(cls, urls: str | None) -> str | None:
        """The one for this worker of pytest-xdist, which are `gw0`, `gw1` and so on."""
        if urls is None:
            return None
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
        several = urls.split(",")
        return several[int(worker.removeprefix("gw")) % len(several)]


SERVERS = Servers()
