"""Pulsar's admin API over HTTP: ask, make, and say in one line what goes wrong."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import aiohttp
import stamina
from pydantic import BaseModel, TypeAdapter, ValidationError
from yarl import URL

from fourtier.runtime.errors import StartupError
from fourtier.runtime.telemetry.redaction import one_line

T = TypeVar("T")
#: What Pulsar takes: an object, or a number alone.
Body = Mapping[str, object] | int | None

_WITHIN = 15.0
#: A broker sends us on to the one that owns the namespace, which may just have moved.
_MAX_REDIRECTS = 5
#: What a broker answers while another init does the same, or a namespace moves between brokers.
_PASSES = {
    HTTPStatus.CONFLICT,
    HTTPStatus.PRECONDITION_FAILED,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
}
_ATTEMPTS = 4
_REDIRECTS = {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}


@dataclass(frozen=True, slots=True)
class AdminConfig:
    """Where the admin API is and how to get in.

    Attributes:
        url: `http://HOST:8080` or `https://HOST:8443`.
        trust_certificates: file with the authority that signed the server's certificate, where the
            system does not know it.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    trust_certificates: Path | None = None


class _TransientError(Exception):
    """The API answered with a status of `_PASSES`."""


class _Failure(BaseModel):
    """What Pulsar says when it does not do something."""

    reason: str


class PulsarAdmin:
    """The API of one cluster. Opened by `open_admin`.

    Every method raises StartupError when the broker cannot be reached, rejects us, or is another.
    """

    def __init__(self, session: aiohttp.ClientSession, config: AdminConfig) -> None:
        self._session = session
        self._config = config

    async def get(self, kind: type[T], *path: str, **query: str) -> T | None:
        """Read; None if it does not exist."""
        status, content = await self._ask("GET", path, query=query, fine=[HTTPStatus.NOT_FOUND])
        if status == HTTPStatus.NOT_FOUND:
            self._read(_Failure, content)  # or it is somebody else's 404
            return None
        return self._read(kind, content) if content else None

    async def version(self) -> str:
        """The broker's version, which it writes as a bare word."""
        _, content = await self._ask("GET", ("brokers", "version"))
        return one_line(content.decode(errors="replace")).strip('"')

    async def put(self, *path: str, body: Body = None) -> None:
        """Make; what another has made meanwhile is fine."""
        await self._ask("PUT", path, body, fine=[HTTPStatus.CONFLICT])

    async def post(self, *path: str, body: Body = None, **query: str) -> None:
        """Set."""
        await self._ask("POST", path, body, query)

    async def _ask(
        self,
        method: str,
        path: Collection[str],
        body: Body = None,
        query: Mapping[str, str] | None = None,
        fine: Collection[HTTPStatus] = (),
    ) -> tuple[HTTPStatus, bytes]:
        base = URL(f"{self._config.url.rstrip('/')}/admin/v2")
        names = "/".join(quote(part, safe="") for part in path)
        url = URL(f"{base}/{names}", encoded=True).with_query(query)
        try:
            async with asyncio.timeout(_WITHIN):
                status, content = await self._insist(method, url, body, fine)
        except TimeoutError:
            raise self._unreachable(f"no answer within {_WITHIN:g} seconds") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._unreachable(error) from error
        if status < HTTPStatus.MULTIPLE_CHOICES or status in fine:
            return status, content
        raise self._rejected(status, content, f"{method} {'/'.join(path)}")

    async def _insist(
        self, method: str, url: URL, body: Body, fine: Collection[HTTPStatus]
    ) -> tuple[HTTPStatus, bytes]:
        """Ask again for a while where the answer may be another one soon."""
        async for attempt in stamina.retry_context(
            on=_TransientError, attempts=_ATTEMPTS, wait_initial=0.1, wait_max=1.0, wait_jitter=0.1
        ):
            with attempt:
                status, content = await self._follow(method, url, body)
                if status in _PASSES and status not in fine and attempt.num < _ATTEMPTS:
                    raise _TransientError
                return status, content
        raise AssertionError("the last attempt returns or raises")

    async def _follow(self, method: str, url: URL, body: Body) -> tuple[HTTPStatus, bytes]:
        """Ask where we are sent. The HTTP client would leave the token behind."""
        for _ in range(_MAX_REDIRECTS):
            async with self._session.request(
                method, url, json=body, headers=self._headers, allow_redirects=False
            ) as answer:
                status, content = HTTPStatus(answer.status), await answer.read()
                if status not in _REDIRECTS:
                    return status, content
                onward = url.join(URL(answer.headers.get("Location", ""), encoded=True))
            if onward.scheme != url.scheme:
                raise ValueError(f"it sends us from {url.scheme} to {onward.scheme}")
            url = onward
        raise ValueError(f"it sent us on more than {_MAX_REDIRECTS} times")

    @property
    def _headers(self) -> dict[str, str]:
        # Some resources take no body, and are rejected without a type all the same.
        token = {"Authorization": f"Bearer {self._config.token}"} if self._config.token else {}
        return {"Content-Type": "application/json", **token}

    def _read(self, kind: type[T], content: bytes) -> T:
        try:
            return TypeAdapter(kind).validate_json(content)
        except ValidationError as error:
            raise StartupError(
                f"what answers at {self._config.url} is not a Pulsar: {self._rule}"
            ) from error

    def _unreachable(self, reason: object) -> StartupError:
        why = one_line(reason, self._config.token)
        return StartupError(
            f"Pulsar's admin API cannot be reached at {self._config.url}: {why}. "
            f"Is the broker running, and {self._rule}?"
        )

    @property
    def _rule(self) -> str:
        return "is the address in bus.admin-url or FOURTIER_BUS_ADMIN_URL that of its HTTP port"

    def _rejected(self, status: HTTPStatus, content: bytes, asked: str) -> StartupError:
        api = f"Pulsar's admin API at {self._config.url}"
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:  # it does not tell them apart
            return StartupError(
                f"{api} rejects {asked}: set FOURTIER_BUS_TOKEN to a valid token of a role "
                f"that may administer the tenant"
            )
        reason = one_line(content.decode(errors="replace"), self._config.token)
        return StartupError(f"{api} answered {asked} with {status.value}: {reason}")


@asynccontextmanager
async def open_admin(config: AdminConfig) -> AsyncGenerator[PulsarAdmin]:
    """Prepare to ask; nothing is sent yet.

    Raises:
        StartupError: the certificates cannot be read.
    """
    try:
        trusted = ssl.create_default_context(cafile=config.trust_certificates)
    except OSError as error:
        raise StartupError(
            f"the certificates {config.trust_certificates} cannot be used: {error.strerror}"
        ) from error
    connector = aiohttp.TCPConnector(ssl=trusted)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield PulsarAdmin(session, config)
