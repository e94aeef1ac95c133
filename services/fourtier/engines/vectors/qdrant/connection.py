"""Connecting to a Qdrant server."""

import math
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from fourtier.engines.limits import TimeLimit
from fourtier.engines.vectors.qdrant.collections import create_collection
from fourtier.engines.vectors.qdrant.store import QdrantVectorStore
from fourtier.runtime.errors import StartupError, UnavailableError
from fourtier.runtime.service.engines import QUERY_SECONDS, CollectionsConfig
from fourtier.runtime.service.stores.schemas import Fields
from fourtier.runtime.telemetry.redaction import one_line

#: The first that takes the weights of words from one tenant's texts; older ones would not say so.
_MIN_VERSION = (1, 19)
_UNAUTHORISED = {401, 403}


@contextmanager
def startup_errors(url: str, key: str | None) -> Generator[None]:
    """Tell in one line what goes wrong while things are set up.

    Raises:
        StartupError: instead of what the client raises.
    """
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in _UNAUTHORISED:
            raise StartupError(
                f"the vector store at {url} rejects the key: set FOURTIER_VECTORS_KEY"
            ) from error
        reason = one_line(f"{error.status_code} {error.content.decode(errors='replace')}", key)
        raise StartupError(f"the vector store at {url} cannot be used: {reason}") from error
    except (ResponseHandlingException, UnavailableError) as error:
        reason = one_line(error, key) or "it did not answer in time"
        raise StartupError(f"the vector store at {url} cannot be used: {reason}") from error


def limit_of(url: str, query_seconds: float) -> TimeLimit:
    """The time limit of a server's answers."""
    return TimeLimit(f"Qdrant at {url}", query_seconds)


@asynccontextmanager
async def connect_qdrant(
    url: str,
    *,
    key: str | None,
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> AsyncGenerator[AsyncQdrantClient]:
    """Connect to a server; changes nothing.

    Args:
        url: where it listens.
        key: None where it asks for none.
        trust_certificates: file with the authority that signed the server's certificate, where the
            system does not know it.
        query_seconds: how long it may take to answer.

    Raises:
        StartupError: nothing answers at the URL, it rejects the key, or it is too old.
    """
    try:
        trusted = ssl.create_default_context(cafile=trust_certificates)
    except OSError as error:
        raise StartupError(
            f"the certificates {trust_certificates} cannot be used: {error.strerror}"
        ) from error
    client = AsyncQdrantClient(
        url=url,
        api_key=key,
        timeout=math.ceil(query_seconds) + 1,  # ours ends first, and says what it is
        check_compatibility=False,
        verify=trusted,
    )
    try:
        with startup_errors(url, key):
            async with limit_of(url, query_seconds).applied():
                await _check_version(client, url)
        yield client
    finally:
        await client.close()


async def qdrant_version(
    url: str,
    *,
    key: str | None,
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> str:
    """What a server calls itself.

    Raises:
        StartupError: as `connect_qdrant`.
    """
    connecting = connect_qdrant(
        url, key=key, trust_certificates=trust_certificates, query_seconds=query_seconds
    )
    async with connecting as client:
        with startup_errors(url, key):
            async with limit_of(url, query_seconds).applied():
                return f"Qdrant {(await client.info()).version}"


@asynccontextmanager
async def open_qdrant(
    url: str,
    collection: str,
    dimensions: int,
    fields: Fields,
    *,
    key: str | None,
    layout: CollectionsConfig = CollectionsConfig(),
    trust_certificates: Path | None = None,
    query_seconds: float = QUERY_SECONDS,
) -> AsyncGenerator[QdrantVectorStore]:
    """Connect to a server and see to it that the collection is there.

    Raises:
        StartupError: as `connect_qdrant`, or the collection has other vectors than the flow's.
    """
    connecting = connect_qdrant(
        url, key=key, trust_certificates=trust_certificates, query_seconds=query_seconds
    )
    async with connecting as client:
        with startup_errors(url, key):
            await create_collection(client, collection, dimensions, fields, layout)
        yield QdrantVectorStore(
            client, collection, dimensions, fields, limit_of(url, query_seconds)
        )


async def _check_version(client: AsyncQdrantClient, url: str) -> None:
    version = (await client.info()).version
    if tuple(int(part) for part in version.split(".")[:2]) < _MIN_VERSION:
        oldest = ".".join(map(str, _MIN_VERSION))
        raise StartupError(f"Qdrant {version} at {url} is too old: {oldest} or newer is needed")
