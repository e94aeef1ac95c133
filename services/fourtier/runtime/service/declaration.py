"""How a service declares itself: once, statically, on its class.

class WeatherService(Service):
    name = "weather"
    parameters = WeatherParameters

    @answer(ASK_WEATHER)
    async def ask(self, request: AskWeatherRequest) -> AskWeatherResponse: ...

    @on(WEATHER_CHANGED)
    async def note(self, event: WeatherChanged) -> None: ...

The type checker joins topic, payload and handler. Host, `fourtier init`, doctor, `fourtier topics`
and the deployment files read only this.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

from fourtier.runtime.rpc.retry import Retry
from fourtier.runtime.rpc.routes import (
    Route,
    call_batch_route,
    call_route,
    event_batch_route,
    event_route,
    stream_route,
)
from fourtier.runtime.service.context import Parameters, ServiceContext
from fourtier.runtime.service.deployment import DeploymentProfile
from fourtier.runtime.service.stores.schemas import Stores
from fourtier.schema.message import Message
from fourtier.schema.status import StoreCount
from fourtier.schema.topics import Call, Topic

S = TypeVar("S")
M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

#: What the decorators take and give back: a method of a service `S`.
EventMethod = Callable[[S, M], Coroutine[Any, Any, None]]
EventBatchMethod = Callable[[S, Sequence[M]], Coroutine[Any, Any, None]]
AnswerMethod = Callable[[S, Q], Coroutine[Any, Any, A]]
AnswerBatchMethod = Callable[[S, Sequence[Q]], Coroutine[Any, Any, Sequence[A]]]
StreamMethod = Callable[[S, Q], AsyncIterator[A]]

#: A limit that stands on the class, or one that the open service knows from its parameters.
Limit = int | Callable[[Any], int]

_ATTRIBUTE = "__fourtier_handler__"
_DEFAULT_CONCURRENCY = 16
_DEFAULT_BATCH = 64


@dataclass(frozen=True, slots=True)
class Handler:
    """A topic or call, and the method that handles its messages.

    Attributes:
        call: None for a plain topic, which answers nothing.
        batch: whether the method takes messages in batches of what has arrived.
        max_concurrency: how many messages are handled at once; those with one key never are.
        max_batch_size: for batches.
        max_in_flight: messages beyond that are shed where a caller gets the error; None sheds
            nothing, and leaves the rest to the broker.
        timeout: seconds that an attempt may go on without progress; None for the flow's limit.
    """

    topic: Topic[Any]
    call: Call[Any, Any] | None
    method: str
    batch: bool
    retry: Retry
    max_concurrency: Limit = _DEFAULT_CONCURRENCY
    max_batch_size: int = _DEFAULT_BATCH
    max_in_flight: Limit | None = None
    timeout: float | None = None

    def bind(self, service: object) -> Route:
        """The route of an open service."""
        return replace(
            self._route(getattr(service, self.method)),
            max_concurrency=_value(self.max_concurrency, service),
            max_batch_size=self.max_batch_size,
            max_in_flight=self.max_in_flight and _value(self.max_in_flight, service),
            retry=self.retry,
            timeout=self.timeout,
        )

    def _route(self, method: Callable[[Any], Any]) -> Route:
        if self.call is None:
            make_event = event_batch_route if self.batch else event_route
            return make_event(self.topic, method)
        if self.call.last is not None:
            return stream_route(self.call, method)
        make_call = call_batch_route if self.batch else call_route
        return make_call(self.call, method)


def _value(limit: Limit, service: object) -> int:
    return limit if isinstance(limit, int) else limit(service)


class Service:
    """Base of a service.

    A subclass sets `name` and `parameters`, and `stores` if it has any; opens what it needs in
    `open`, and handles messages in methods under `@on`, `@on_batch`, `@answer`, `@answer_batch` and
    `@stream`. An entry point of the group `fourtier.services` names it.
    """

    name: ClassVar[str]
    parameters: ClassVar[type[Parameters]] = Parameters
    stores: ClassVar[Stores] = Stores()
    deployment: ClassVar[DeploymentProfile] = DeploymentProfile()

    @classmethod
    def open(cls, context: ServiceContext, parameters: Any) -> AbstractAsyncContextManager[Self]:
        """Open what the service needs; closing gives it back in order."""
        raise TypeError(f"{cls.__name__}.open({context}, {parameters}) is not there")

    async def store_counts(self) -> Sequence[StoreCount]:
        """How many things its stores have, in all scopes; few services have any."""
        return ()

    @classmethod
    def handlers(cls) -> Sequence[Handler]:
        """What the class handles, in the order in which its methods stand in it."""
        found: dict[str, Handler] = {}
        for base in reversed(cls.__mro__):
            for name, attribute in vars(base).items():
                handler = getattr(attribute, _ATTRIBUTE, None)
                if isinstance(handler, Handler):
                    found[name] = handler
        return list(found.values())

    def routes(self) -> Sequence[Route]:
        """The handlers of this open service, with their limits."""
        return [handler.bind(self) for handler in self.handlers()]


def _declare(
    topic: Topic[Any], call: Call[Any, Any] | None, *, batch: bool, retry: Retry, **limits: Any
) -> Callable[[Any], Any]:
    def declare(method: Any) -> Any:
        handler = Handler(topic, call, method.__name__, batch, retry, **limits)
        setattr(method, _ATTRIBUTE, handler)
        return method

    return declare


def on(
    topic: Topic[M],
    *,
    max_concurrency: Limit = _DEFAULT_CONCURRENCY,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Callable[[EventMethod[S, M]], EventMethod[S, M]]:
    """Handle each message of a topic."""
    return _declare(
        topic, None, batch=False, retry=retry, timeout=timeout, max_concurrency=max_concurrency
    )


def on_batch(
    topic: Topic[M],
    *,
    max_batch_size: int = _DEFAULT_BATCH,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Callable[[EventBatchMethod[S, M]], EventBatchMethod[S, M]]:
    """Handle messages of a topic in batches of what has arrived."""
    return _declare(
        topic, None, batch=True, retry=retry, timeout=timeout, max_batch_size=max_batch_size
    )


def answer(
    call: Call[Q, A],
    *,
    max_concurrency: Limit = _DEFAULT_CONCURRENCY,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Callable[[AnswerMethod[S, Q, A]], AnswerMethod[S, Q, A]]:
    """Answer each call with one message."""
    return _declare(
        call.topic, call, batch=False, retry=retry, timeout=timeout, max_concurrency=max_concurrency
    )


def answer_batch(
    call: Call[Q, A],
    *,
    max_batch_size: int = _DEFAULT_BATCH,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Callable[[AnswerBatchMethod[S, Q, A]], AnswerBatchMethod[S, Q, A]]:
    """Answer calls in batches of what has arrived; one answer for each question, in order."""
    return _declare(
        call.topic, call, batch=True, retry=retry, timeout=timeout, max_batch_size=max_batch_size
    )


def stream(
    call: Call[Q, A],
    *,
    max_concurrency: Limit = _DEFAULT_CONCURRENCY,
    max_in_flight: Limit | None = None,
    retry: Retry = Retry(),
    timeout: float | None = None,
) -> Callable[[StreamMethod[S, Q, A]], StreamMethod[S, Q, A]]:
    """Answer each call with a stream, whose last message the call recognises.

    Raises:
        TypeError: the call answers with one message.
    """
    if call.last is None:
        raise TypeError(f"{call.topic.name} answers with one message: use @answer")
    return _declare(
        call.topic,
        call,
        batch=False,
        retry=retry,
        timeout=timeout,
        max_concurrency=max_concurrency,
        max_in_flight=max_in_flight,
    )
