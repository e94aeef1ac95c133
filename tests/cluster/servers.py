"""Servers that tests may use: those whose URLs are in the environment."""

from pydantic_settings import BaseSettings, SettingsConfigDict


class Servers(BaseSettings):
    """`FOURTIER_TEST_PULSAR_URL` and the like; `make test-cluster` starts Pulsar and Neo4j.

    Attributes:
        flows: run the flows of all tests on these servers; the graph is emptied for each test.
    """

    model_config = SettingsConfigDict(env_prefix="FOURTIER_TEST_", extra="ignore")

    pulsar_url: str | None = None
    pulsar_admin_url: str | None = None
    neo4j_url: str | None = None
    qdrant_url: str | None = None
    qdrant_key: str | None = None
    flows: bool = False


SERVERS = Servers()
