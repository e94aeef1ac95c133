"""Connect, ask, end a conversation; the memory calls are in `memory.py`."""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from fourtier.client.archive import Archive
from fourtier.client.forgetting import Forget
from fourtier.client.memory import Conversations, Episodes, Facts
from fourtier.client.opting_out import UserMemory
from fourtier.client.requests import new_request
from fourtier.client.why import Why, explain
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.rpc.envelope import new_id
from fourtier.schema.agent import (
    AGENT_REQUEST,
    AgentRequest,
    AgentResponse,
    AgentStep,
    MemoryMode,
    ResearchMode,
    RunMetadata,
)
from fourtier.schema.message import Scope
from fourtier.schema.researcher import RESEARCH, MethodName, ResearchProgress, ResearchRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a run.

    Attributes:
        answer: empty when `error` is set.
        error: the type of what went wrong; `reason` says it in words.
        in_token: tokens that the model read in the whole run; `out_token` those that it wrote.
        metadata: the memories that were used, the steps, and the tiers that were left out.
        retry_after: seconds after which asking again makes sense, where the error has them.
    """

    answer: str
    error: str | None
    reason: str
    in_token: int
    out_token: int
    model: str
    metadata: RunMetadata
    retry_after: float | None = None


class Client:
    """A connection to a flow, made by `connect`. It serves any number of calls at a time.

    Attributes:
        facts: long-term facts.
        episodes: past problem-solving.
        conversations: conversation records.
        archive: what was said, word for word.
        forget: deletes memories for good, in all of these.
        memory: whether a user is remembered at all.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.facts = Facts(caller)
        self.episodes = Episodes(caller)
        self.conversations = Conversations(caller)
        self.archive = Archive(caller)
        self.forget = Forget(caller)
        self.memory = UserMemory(caller)

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
        memory: MemoryMode = "read-write",
        research: ResearchMode | None = None,
        streaming: bool = True,
        history: tuple[AgentStep, ...] = (),
        state: str = "",
        group: tuple[str, ...] = (),
        request_id: str = "",
    ) -> AsyncGenerator[AgentResponse]:
        """Ask the agent; yields replies as they come, the last one with `end_of_dialog`.

        A message that was received whole is not yielded again when the agent is replaced in the
        middle of a run. Leaving early cancels the run, the model's request included; close the
        generator for that, as `contextlib.aclosing` does.

        Args:
            question: what is asked.
            user: whose memory is used and added to.
            collection: which of the user's collections.
            conversation_id: the conversation that is read and extended; without one the run is a
                conversation of its own.
            enable_memory: False makes it a run without memory.
            memory: "read-only" reads memory and learns nothing from the run; "off" is the same as
                `enable_memory=False`.
            research: how the archive is searched: "off" once, "auto" once more where words of the
                question are missing, "deep" in several rounds; None leaves it to the flow.
            streaming: whether thoughts and answer come in pieces.
            history: earlier steps of reasoning to go on from.
            state: what the agent is working towards; episodes are searched by it.
            group: names that the question belongs to.
            request_id: names the run, for this user. The same question with it gets the same
                answer, and nothing is run twice. Another question with it ends with the error
                `request-id-used`. A new id if it is left out.

        Raises:
            InvalidRequestError: an argument cannot be used.
            CallFailedError: the request could not be handled; it is in the dead-letter queue.
            DeadlineExceededError: no agent answers.
            BusError: the broker did not take the request.
        """
        request = new_request(
            AgentRequest,
            question=question,
            user=user,
            collection=collection,
            conversation_id=conversation_id,
            enable_memory=enable_memory,
            memory=memory,
            research=research,
            streaming=streaming,
            history=history,
            state=state,
            group=group,
            request_id=request_id or new_id(),
        )
        whole: set[str] = set()
        replies = self._caller.stream(AGENT_REQUEST, request, message_id=request.request_id)
        async with aclosing(replies):
            async for reply in replies:
                if reply.message_id not in whole or reply.end_of_dialog:
                    yield reply
                if reply.end_of_message:
                    whole.add(reply.message_id)

    async def why(self, scope: Scope, run_id: str = "") -> Why | None:
        """Why a run's prompt had the memories that it had; by default the newest run's.

        Returns:
            What was found for it, best first, with the words as they are stored now; None where
            the records have no such run.

        Raises:
            CallFailedError: a service answered with an error.
            DeadlineExceededError: a service does not answer.
            BusError: the broker did not take a request.
        """
        return await explain(self, scope, run_id)

    async def research(
        self,
        question: str,
        *,
        user: str,
        collection: str = "default",
        max_rounds: int = 3,
        max_evidence: int = 10,
        max_tokens: int = 2_000,
        method: MethodName | None = None,
        research_id: str = "",
    ) -> AsyncGenerator[ResearchProgress]:
        """Find evidence for a question in the archive, round by round; nothing answers it.

        Yields the steps as they happen, each once; the last one, `end`, has the evidence and the
        receipt. A research by a model goes on where it was when its service is killed.

        Args:
            question: what evidence is searched for.
            user: whose archive is searched.
            collection: which of the user's collections.
            max_rounds: of searches, each of which follows what the one before has found.
            max_evidence: entries that are handed over.
            max_tokens: of these together.
            method: "rule" asks no model, "llm" asks the flow's, "auto" does where the service's
                environment names one; None leaves it to the flow.
            research_id: names the research. Asked again with it, a research by a model goes on
                where it was interrupted, or gives what it found, for an hour; a new id if it is
                left out.

        Raises: as `ask`.
        """
        request = new_request(
            ResearchRequest,
            question=question,
            research_id=research_id or new_id(),
            user=user,
            collection=collection,
            max_rounds=max_rounds,
            max_evidence=max_evidence,
            max_tokens=max_tokens,
            method=method,
        )
        seen: set[tuple[int, str]] = set()
        async with aclosing(self._caller.stream(RESEARCH, request)) as steps:
            async for step in steps:
                if (step.round, step.step) not in seen:
                    yield step
                seen.add((step.round, step.step))

    async def answer(
        self,
        question: str,
        *,
        user: str,
        collection: str = "default",
        conversation_id: str = "",
        enable_memory: bool = True,
        memory: MemoryMode = "read-write",
        research: ResearchMode | None = None,
        request_id: str = "",
    ) -> Reply:
        """Ask the agent and wait for the last reply; the arguments are those of `ask`.

        Raises: as `ask`.
        """
        last: AgentResponse | None = None
        replies = self.ask(
            question,
            user=user,
            collection=collection,
            conversation_id=conversation_id,
            enable_memory=enable_memory,
            memory=memory,
            research=research,
            streaming=False,
            request_id=request_id,
        )
        async with aclosing(replies):
            async for reply in replies:
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
            retry_after=last.retry_after,
        )


@asynccontextmanager
async def connect(
    url: str,
    *,
    tenant: str = "fourtier",
    namespace: str = "default",
    token: str | None = None,
    trust_certificates: str | None = None,
) -> AsyncGenerator[Client]:
    """Connect to a flow's bus.

    Args:
        url: of the broker, `pulsar://HOST:PORT` or `pulsar+ssl://HOST:PORT`.
        tenant: of the flow.
        namespace: of the flow.
        token: that lets this program in. The embedded broker of `fourtier up` wants the one that it
            keeps in the file `bus/token` of its data directory.
        trust_certificates: file with the authority that signed the broker's certificate; None
            where the system knows it.

    Raises:
        BusError: there is no broker at the URL.
    """
    security = PulsarSecurity(token=token, trust_certificates=trust_certificates)
    async with (
        connect_pulsar(url, tenant, namespace, security=security, log_file=os.devnull) as bus,
        client_on(bus) as client,
    ):
        yield client


@asynccontextmanager
async def client_on(bus: Bus) -> AsyncGenerator[Client]:
    """Make a client on a bus that is already open, as in the process of the flow."""
    async with open_caller(bus) as caller:
        yield Client(caller)
