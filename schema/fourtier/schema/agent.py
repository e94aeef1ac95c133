"""Messages of `agent`: the question, the stream of replies, and the event that tells of the run."""

from typing import Literal

from pydantic import Field

from fourtier.schema.conversations import InConversation, by_conversation
from fourtier.schema.message import Message, Metadata, Scoped, Timestamp
from fourtier.schema.topics import Call, Topic

Tier = Literal["facts", "episodes", "conversation", "working-memory"]


class AgentStep(Message):
    """One earlier step of ReAct reasoning, handed in as history or out as trace."""

    thought: str = ""
    action: str = ""
    arguments: Metadata = {}
    observation: str = ""


class AgentRequest(Scoped):
    """A question for the agent.

    `conversation_id` names the conversation whose record is read and extended; without one the run
    is a conversation of its own. `enable_memory=false` makes it a plain ReAct run.
    """

    question: str = Field(min_length=1)
    history: tuple[AgentStep, ...] = ()
    state: str = ""
    group: tuple[str, ...] = ()
    streaming: bool = False
    conversation_id: str = ""
    enable_memory: bool = False
    request_id: str = Field(
        default="", description="names the run; a repeated id is answered, not run again"
    )


class MemoryUsed(Message):
    """A memory that stood in the context of a run."""

    tier: Tier
    id: str
    content: str
    timestamp: Timestamp | None = None


class RunMetadata(Message):
    """What a run used; it travels with the last reply."""

    run_id: str
    memories: tuple[MemoryUsed, ...] = ()
    tiers_left_out: dict[str, str] = Field(
        default={}, description="tier to the reason why it was left out of the context"
    )
    timings_ms: dict[str, float] = {}
    steps: tuple[AgentStep, ...] = ()
    trace_id: str = ""


class AgentResponse(Message):
    """One piece of the reply. Pieces of one message share `message_id`.

    Exactly one response of a run has `end_of_dialog`; its token counts cover the whole run.
    """

    message_type: Literal["thought", "action", "observation", "answer", "error"]
    content: str
    message_id: str
    end_of_message: bool = True
    end_of_dialog: bool = False
    error: str | None = None
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
    metadata: RunMetadata | None = None


class InvocationEnded(InConversation):
    """A run is over. Everything that memory makes of it is in here."""

    run_id: str
    question: str
    answer: str
    steps: tuple[AgentStep, ...] = ()
    succeeded: bool = True
    memories: tuple[MemoryUsed, ...] = ()
    started_at: Timestamp
    ended_at: Timestamp
    extract_facts: bool = True
    record_episode: bool = True


def _conversation_or_run(request: AgentRequest) -> str:
    return f"{request.scope.key}/{request.conversation_id or request.request_id}"


AGENT_REQUEST = Call(
    Topic("agent.request", AgentRequest, key=_conversation_or_run),
    AgentResponse,
    deadline=600.0,
    last=lambda response: response.end_of_dialog,
)
INVOCATION_ENDED = Topic(
    "invocation.ended",
    InvocationEnded,
    key=by_conversation,
)
