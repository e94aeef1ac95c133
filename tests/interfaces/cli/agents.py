"""Agents that answer as a test says."""

from collections.abc import AsyncIterator, Callable

from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.routes import Route, stream_route
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest, AgentResponse, RunMetadata


def answering(
    answer: Callable[[str], str] = lambda _: "Yes.",
    error: str | None = None,
    retry_after: float | None = None,
) -> Route:
    """An agent that answers at once; with `error`, that its run failed."""

    async def run(request: AgentRequest) -> AsyncIterator[AgentResponse]:
        yield AgentResponse(
            message_type="error" if error else "answer",
            content=answer(request.question),
            message_id="last",
            end_of_dialog=True,
            error=error,
            retry_after=retry_after,
            metadata=RunMetadata(run_id=request.request_id),
        )

    return stream_route(AGENT_REQUEST, run)


def failing() -> Route:
    """An agent that cannot handle any request."""

    async def run(request: AgentRequest) -> AsyncIterator[AgentResponse]:
        if request.question:
            raise PermanentError("this cannot be answered")
        yield AgentResponse(message_type="answer", content="", message_id="never")

    return stream_route(AGENT_REQUEST, run)
