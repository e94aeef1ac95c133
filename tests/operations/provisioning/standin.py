"""An HTTP server that stands in for Pulsar's admin API or for Qdrant, for rare answers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.serving import serving

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class StandIn:
    """Where it is, and what it was asked."""

    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)


@asynccontextmanager
async def standing_in(answer: Answer) -> AsyncGenerator[StandIn]:
    """Answer every request with what `answer` makes of it."""
    stand_in = StandIn()

    async def handle(request: web.Request) -> web.StreamResponse:
        stand_in.asked.append((request.method, request.path))
        stand_in.tokens.append(request.headers.get("Authorization"))
        stand_in.bodies.append(await request.json() if request.can_read_body else None)
        return await answer(request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    async with serving(application) as stand_in.url:
        yield stand_in


def failing(status: int, reason: str) -> Answer:
    """Answers as Pulsar does when it does not do something."""

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"reason": reason}, status=status)

    return answer


async def in_thread(call: Callable[[], Any]) -> Any:
    """Run what has an event loop of its own, such as a command, while a stand-in answers here."""
    return await asyncio.to_thread(call)
