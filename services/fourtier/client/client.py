"""Connect, ask, end a conversation; the memory calls are in `memory.py`."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from fourtier.client.memory import Conversations, Episodes, Facts
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.envelope import new_id
from fourtier.schema.agent import (
    AGENT_REQUEST,
    AgentRequest,
    AgentResponse,
    AgentStep,
    RunMetadata,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a run came to.

    Attributes:
        answer: empty when `error` is set.
        error: the type of what went wrong; `reason` says it in words.
    """

    answer: str
    error: str | None
    reason: str
    in_token: int
    out_token: int
    model: str
    metadata: RunMetadata


class Client:
    """A connection to a flow. Made by `connect`; any number of calls at a time."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.facts = Facts(caller)
        self.episodes = Episodes(caller)
        self.conversations = Conversations(caller)

    @property
    def caller(self) -> Caller:
        """For calls that have no method here."""
        return self._caller

    async def ask(
        self,
        question: str,
        *,
        user: str,
        collection: str = "default",
        conversation_id: str = "",
        enable_memory: bool = True,
        streaming: bool = True,
        history: tuple[AgentStep, ...] = (),
        state: str = "",
        group: tuple[str, ...] = (),
    ) -> AsyncIterator[AgentResponse]:
        """Ask the agent; yields replies as they come, the last one with `end_of_dialog`.

        A message that has been received whole is not yielded again when the agent is replaced in
        the middle of a run.

        Raises:
            CallFailedError: the request could not be handled; it is in the dead letters.
            DeadlineExceededError: no agent answers.
        """
        request = AgentRequest(
            question=question,
            user=user,
            collection=collection,
            conversation_id=conversation_id,
            enable_memory=enable_memory,
            streaming=streaming,
            history=history,
            state=state,
            group=group,
            request_id=new_id(),
        )
        whole: set[str] = set()
        replies = self._caller.stream(AGENT_REQUEST, request, message_id=request.request_id)
        async for reply in replies:
            if reply.message_id not in whole or reply.end_of_dialog:
                yield reply
            if reply.end_of_message:
                whole.add(reply.message_id)

    async def answer(
        self,
        question: str,
        *,
        user: str,
        collection: str = "default",
        conversation_id: str = "",
        enable_memory: bool = True,
    ) -> Reply:
        """Ask the agent and wait for the last reply.

        Raises: as `ask`.
        """
        last: AgentResponse | None = None
        async for reply in self.ask(
            question,
            user=user,
            collection=collection,
            conversation_id=conversation_id,
            enable_memory=enable_memory,
            streaming=False,
        ):
            last = reply
        if last is None or last.metadata is None:
            raise ValueError("the agent ended its replies without a last one")
        return Reply(
            answer="" if last.error else last.content,
            error=last.error,
            reason=last.content if last.error else "",
            in_token=last.in_token or 0,
            out_token=last.out_token or 0,
            model=last.model or "",
            metadata=last.metadata,
        )


@asynccontextmanager
async def connect(
    url: str,
    *,
    tenant: str = "fourtier",
    namespace: str = "default",
    token: str | None = None,
    security: PulsarSecurity = PulsarSecurity(),
) -> AsyncGenerator[Client]:
    """Connect to a flow's bus.

    Args:
        url: `pulsar://HOST:PORT` or `pulsar+ssl://HOST:PORT`.
        tenant: of the flow.
        namespace: of the flow.
        token: that of an embedded bus is in `bus/token` of the flow's data directory.
        security: more than a token, such as certificates.

    Raises:
        BusError: there is no broker at the URL.
    """
    if token is not None:
        security = replace(security, token=token)
    async with (
        connect_pulsar(url, tenant, namespace, security=security, log_file=os.devnull) as bus,
        client_on(bus) as client,
    ):
        yield client


@asynccontextmanager
async def client_on(bus: Bus) -> AsyncGenerator[Client]:
    """Make a client on a bus that is open already, as in the process of the flow."""
    async with open_caller(bus) as caller:
        yield Client(caller)
