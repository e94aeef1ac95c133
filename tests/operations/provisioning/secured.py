"""Pulsar that wants a token and Neo4j that wants a password, both over TLS."""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.cluster import engines
from tests.cluster.jars import jars, java
from tests.cluster.server import Server
from tests.support.ports import free_port

PASSWORD = "passw0rd-of-ours"  # noqa: S105 - of a server that lives as long as the test
_KEY = b"a key of 32 bytes, for tests only"

_PULSAR = """
brokerServicePortTls={port}
webServicePortTls={admin_port}
tlsCertificateFilePath={certificate}
tlsKeyFilePath={key}
authenticationEnabled=true
authorizationEnabled=true
authenticationProviders=org.apache.pulsar.broker.authentication.AuthenticationProviderToken
tokenSecretKey=data:;base64,{signing_key}
superUserRoles=admin
brokerClientAuthenticationPlugin=org.apache.pulsar.client.impl.auth.AuthenticationToken
brokerClientAuthenticationParameters=token:{token}
"""


def token(role: str, key: bytes = _KEY) -> str:
    """A JSON web token as `pulsar tokens create` makes it."""
    head = _base64(b'{"alg":"HS256"}')
    body = _base64(json.dumps({"sub": role}).encode())
    signed = f"{head}.{body}"
    return f"{signed}.{_base64(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass(frozen=True)
class Secured:
    """Where they are, and the authority that signed for them: their own certificate."""

    bus_url: str
    admin_url: str
    graph_url: str
    certificate: Path


@asynccontextmanager
async def secured_engines(directory: Path) -> AsyncGenerator[Secured]:
    """Start both; they end with the context."""
    certificate, key = _certificate(directory)
    plain, plain_admin, port, admin_port, bolt = (free_port() for _ in range(5))
    secured = Secured(
        f"pulsar+ssl://127.0.0.1:{port}",
        f"https://127.0.0.1:{admin_port}",
        f"bolt://127.0.0.1:{bolt}",
        certificate,
    )
    command = engines._pulsar_command(java(), directory / "pulsar", plain, plain_admin)
    with (directory / "pulsar" / "standalone.conf").open("a") as conf:
        conf.write(
            _PULSAR.format(
                port=port,
                admin_port=admin_port,
                certificate=certificate,
                key=key,
                signing_key=base64.b64encode(_KEY).decode(),
                token=token("admin"),
            )
        )
    source = Path(__file__).parent / "neo4j" / "SecuredNeo4j.java"
    neo4j_log = directory / "neo4j.log"
    neo4j_command = [java(), "-Xmx512m", "-cp", jars("neo4j"), str(source)]
    neo4j_command += [str(directory / "neo4j"), str(bolt), str(certificate), str(key), PASSWORD]
    pulsar = Server("Pulsar", command, directory / "pulsar.log", lambda: _is_healthy(secured))
    neo4j = Server("Neo4j", neo4j_command, neo4j_log, lambda: _is_ready(neo4j_log))
    try:
        await pulsar.start()  # one after the other: two Java machines at once are too slow to start
        await neo4j.start()
        yield secured
    finally:
        await asyncio.gather(pulsar.stop(), neo4j.stop())


def _certificate(directory: Path) -> tuple[Path, Path]:
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
    return certificate, key


async def _is_healthy(secured: Secured) -> bool:
    trusted = ssl.create_default_context(cafile=secured.certificate)
    headers = {"Authorization": f"Bearer {token('admin')}"}
    try:
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(f"{secured.admin_url}/admin/v2/brokers/health", ssl=trusted) as answer,
        ):
            return answer.status == 200
    except aiohttp.ClientError:
        return False


async def _is_ready(log: Path) -> bool:
    return await asyncio.to_thread(lambda: log.exists() and "ready" in log.read_text())
