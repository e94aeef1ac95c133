"""`completion`: any model behind one contract, with a cap on what it may cost."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from operator import attrgetter
from typing import Self

import aiohttp

from fourtier.models.completion import bundled
from fourtier.models.completion.backoff import Backoff
from fourtier.models.completion.budget import DayBudget
from fourtier.models.completion.dialects.contract import Dialect
from fourtier.models.completion.dialects.schema import SchemaDialect
from fourtier.models.completion.dialects.tools import ToolsDialect
from fourtier.models.completion.endpoint import Endpoint
from fourtier.models.completion.parameters import CompletionParameters
from fourtier.models.completion.place import ModelEndpoint, named_model
from fourtier.models.completion.steps import Model, Sampling
from fourtier.runtime.service import DeploymentProfile, Retry, Service, ServiceContext, stream
from fourtier.schema.completion import COMPLETE, CompleteRequest, CompletionPiece

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10.0
#: What the bundled model is asked for; it answers best when it does not have to be inventive.
_BUNDLED_TOKENS, _BUNDLED_TEMPERATURE = 256, 0.0
_MAX_CONCURRENCY = 8


class CompletionService(Service):
    """Answers `completion.complete`."""

    name = "completion"
    parameters = CompletionParameters
    deployment = DeploymentProfile(uses_model=True)

    def __init__(self, model: Model, max_concurrency: int) -> None:
        self._model = model
        self.max_concurrency = max_concurrency

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: CompletionParameters
    ) -> AsyncGenerator[Self]:
        """Find the model that the environment names, or start the bundled one."""
        place = named_model(context.settings, parameters.model)
        budget = await asyncio.to_thread(
            DayBudget.open, context.data / "tokens.json", parameters.tokens_per_day
        )
        async with AsyncExitStack() as stack:
            if place is None:
                served = await stack.enter_async_context(
                    bundled.bundled_model(parameters.context_window)
                )
                url, key, at_a_time = served.url, served.key, 1
            else:
                url, key, at_a_time = place.url, place.key or "", _MAX_CONCURRENCY
            # Opened after the bundled model, so that its connections are closed before it stops.
            session = await stack.enter_async_context(_session(parameters))
            retry = Retry(attempts=parameters.attempts, first=0.5, cap=20.0)
            endpoint = Endpoint(session, url, key, Backoff(retry, longest=parameters.timeout))
            dialect, sampling = _dialect(place, parameters), _sampling(place, parameters)
            _tell(place, dialect)
            yield cls(
                Model(endpoint, dialect, sampling, budget), parameters.max_concurrency or at_a_time
            )

    @stream(COMPLETE, max_concurrency=attrgetter("max_concurrency"))
    def complete(self, request: CompleteRequest) -> AsyncIterator[CompletionPiece]:
        """Stream one step of the model."""
        return self._model.step(request)


def _session(parameters: CompletionParameters) -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=_CONNECT_SECONDS, sock_read=parameters.timeout
    )
    return aiohttp.ClientSession(timeout=timeout)


def _dialect(place: ModelEndpoint | None, parameters: CompletionParameters) -> Dialect:
    json_schemas = parameters.json_mode == "schema"
    if parameters.dialect == "tools" or (parameters.dialect == "auto" and place is not None):
        return ToolsDialect(json_schemas=json_schemas)
    small = place is None
    return SchemaDialect(
        json_schemas=json_schemas, small=small, brief=small and parameters.dialect == "auto"
    )


def _sampling(place: ModelEndpoint | None, parameters: CompletionParameters) -> Sampling:
    if place is not None:
        return Sampling(
            model=place.model,
            max_tokens=parameters.max_tokens,
            temperature=parameters.temperature,
            completion_limit=place.is_openai,
        )
    temperature = parameters.temperature
    return Sampling(
        model=bundled.NAME,
        max_tokens=parameters.max_tokens or _BUNDLED_TOKENS,
        temperature=_BUNDLED_TEMPERATURE if temperature is None else temperature,
    )


def _tell(place: ModelEndpoint | None, dialect: Dialect) -> None:
    if place is not None:
        how = "tool calls" if isinstance(dialect, ToolsDialect) else "JSON of a schema"
        log.info("Answers come from the model %s at %s, by %s.", place.model, place.url, how)
        return
    log.info(
        "Answers come from the bundled %s: it shows that everything works, and it knows next to "
        "nothing. For real answers name a model by OPENAI_BASE_URL, OPENAI_API_KEY and "
        "OPENAI_MODEL.",
        bundled.NAME,
    )
