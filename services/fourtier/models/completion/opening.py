"""Opens the model that the environment names, or starts the bundled one."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import aiohttp

from fourtier.models.completion import bundled
from fourtier.models.completion.backoff import Backoff
from fourtier.models.completion.budget import DayBudget
from fourtier.models.completion.dialects.choice import Dialects
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.named_model import ModelEndpoint, named_model
from fourtier.models.completion.parameters import CompletionParameters
from fourtier.models.completion.steps import Model, Sampling
from fourtier.models.genai import Attributes
from fourtier.runtime.service import ServiceContext

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10.0
#: Limits of the bundled model, which answers best when it does not have to be inventive.
_BUNDLED_TOKENS, _BUNDLED_TEMPERATURE = 256, 0.0
_MAX_CONCURRENCY, _BUNDLED_CONCURRENCY = 8, 1


@asynccontextmanager
async def open_model(
    context: ServiceContext, parameters: CompletionParameters
) -> AsyncGenerator[tuple[Model, int]]:
    """The model, and how many completions it makes at a time.

    Raises:
        StartupError: the environment names half of an endpoint, or the bundled model is missing.
    """
    named = named_model(context.settings, parameters.model)
    budget = await asyncio.to_thread(
        DayBudget.open, context.data / "tokens.json", parameters.tokens_per_day
    )
    async with AsyncExitStack() as stack:
        if named is None:
            served = await stack.enter_async_context(
                bundled.bundled_model(parameters.context_window)
            )
            url, key, concurrency = served.url, served.key, _BUNDLED_CONCURRENCY
        else:
            url, key, concurrency = named.url, named.key or "", _MAX_CONCURRENCY
        # Opened after the bundled model, so that its connections are closed before it stops.
        session = await stack.enter_async_context(_session())
        backoff = Backoff(parameters.attempts, longest=parameters.timeout)
        dialects, sampling = _dialects(named, parameters), _sampling(named, parameters, url)
        _log_model(named, dialects)
        yield (
            Model(
                Endpoint(session, url, key, backoff, parameters.timeout), dialects, sampling, budget
            ),
            parameters.max_concurrency or concurrency,
        )


def _session() -> aiohttp.ClientSession:
    """A session that limits the connecting alone; `Endpoint` and the caller limit the reply."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
    )


def _dialects(named: ModelEndpoint | None, parameters: CompletionParameters) -> Dialects:
    small, auto = named is None, parameters.dialect == "auto"
    return Dialects(
        tools=parameters.dialect == "tools" or (auto and not small),
        json_mode=parameters.json_mode,
        small=small,
        brief=small and auto,
    )


def _sampling(named: ModelEndpoint | None, parameters: CompletionParameters, url: str) -> Sampling:
    if named is not None:
        return Sampling(
            model=named.model,
            max_tokens=parameters.max_tokens,
            temperature=parameters.temperature,
            labels=_labels("openai", url),
        )
    temperature = parameters.temperature
    return Sampling(
        model=bundled.NAME,
        max_tokens=parameters.max_tokens or _BUNDLED_TOKENS,
        temperature=_BUNDLED_TEMPERATURE if temperature is None else temperature,
        labels={"gen_ai.provider.name": "llama.cpp", "server.address": "127.0.0.1"},
    )


def _labels(provider: str, url: str) -> Attributes:
    """Provider and server for spans and metrics; any OpenAI-compatible API counts as `openai`."""
    parsed = urlsplit(url)
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    return {
        "gen_ai.provider.name": provider,
        "server.address": parsed.hostname or "",
        "server.port": port,
    }


def _log_model(named: ModelEndpoint | None, dialects: Dialects) -> None:
    if named is not None:
        how = "tool calls" if dialects.tools else "JSON of a schema"
        log.info("Answers come from the model %s at %s, by %s.", named.model, named.url, how)
        return
    log.info(
        "Answers come from the bundled %s: it shows that everything works, and it knows next to "
        "nothing. For real answers name a model by OPENAI_BASE_URL, OPENAI_API_KEY and "
        "OPENAI_MODEL.",
        bundled.NAME,
    )
