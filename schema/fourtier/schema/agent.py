"""Messages of `agent`: the question, the stream of replies, and the event that ends a run."""

from typing import Annotated, Literal

from pydantic import Field

from fourtier.schema.conversations import InConversation, by_conversation
from fourtier.schema.episodes import Result
from fourtier.schema.message import (
    MAX_MEMORIES,
    Arguments,
    LongText,
    Message,
    Name,
    OptionalIdentifier,
    OptionalName,
    Scoped,
    ShortText,
    Timestamp,
    Visible,
)
from fourtier.schema.researcher import Receipt
from fourtier.schema.tiers import MemoryConsidered, Tier
from fourtier.schema.topics import Call, Topic

#: What a run may do with memory: read and learn, only read, or nothing.
MemoryMode = Literal["read-write", "read-only", "off"]

#: How a run searches the archive: once, once more where words of the question are missing, or in
#: several rounds.
ResearchMode = Literal["off", "auto", "deep"]

#: Shorter than a `Name`, because the ids of a run's messages and steps begin with it.
RunId = Annotated[str, Field(max_length=256)]

#: What became of an action. `failed`: the tool ran and could not do it, or not in its time.
#: `interrupted`: the run was interrupted meanwhile, and whether it took effect is unknown.
#: `not-run`: the run must not use the tool now. `rejected`: the call was wrong, as there is no such
#: tool, or its arguments cannot be read. `unknown`: of a version that did not say it.
StepStatus = Literal["unknown", "ok", "failed", "interrupted", "not-run", "rejected"]

#: The agent's own tools that read or change memory. What they give is memory already.
MEMORY_TOOL_NAMES = frozenset(
    {"retrieve_facts", "recall_episodes", "research_memory", "store_fact", "forget"}
)

#: Steps of a run, and of the history that a request hands in.
MAX_STEPS = 100


class AgentStep(Message):
    """One earlier step of ReAct reasoning, handed in as history or out as trace."""

    thought: LongText = ""
    action: OptionalName = ""
    arguments: Arguments = {}
    observation: LongText = ""
    status: StepStatus = "unknown"


class AgentRequest(Scoped):
    """A question for the agent.

    `conversation_id` names the conversation whose record is read and extended; without one the run
    is a conversation of its own. `enable_memory=false` makes it a plain ReAct run, and so does
    `memory="off"`; with `memory="read-only"` the run remembers, and nothing is learned from it. A
    request can narrow what the flow allows, and not widen it. `group` names groups of tools: the
    run is offered only tools of one of them.

    `request_id` names the run of one question of the user. A repeated request gets the answer of
    the run that has ended, or continues where the run was interrupted or cancelled; it is never run
    twice. Another question with the id of a run ends with the error `request-id-used`.
    """

    question: Annotated[LongText, Field(min_length=1), Visible]
    history: tuple[AgentStep, ...] = Field(default=(), max_length=MAX_STEPS)
    state: ShortText = ""
    group: tuple[Name, ...] = Field(default=(), max_length=100)
    streaming: bool = False
    conversation_id: OptionalIdentifier = ""
    enable_memory: bool = False
    memory: MemoryMode = "read-write"
    research: ResearchMode | None = Field(default=None, description="as the flow has it if none")
    request_id: RunId = ""


class MemoryUsed(Message):
    """A memory that was part of a run's context."""

    tier: Tier
    id: OptionalName
    content: LongText
    timestamp: Timestamp | None = None


class RunMetadata(Message):
    """What a run used; it travels with the last reply."""

    run_id: str
    memories: tuple[MemoryUsed, ...] = ()
    considered: tuple[MemoryConsidered, ...] = Field(
        default=(), description="facts, entries and episodes that were found, best first"
    )
    tiers_left_out: dict[str, str] = Field(
        default={}, description="tier to the reason why it was left out of the context"
    )
    research: Receipt | None = Field(
        default=None, description="what the research in the archive took, where there was one"
    )
    timings_ms: dict[str, float] = {}
    steps: tuple[AgentStep, ...] = ()
    trace_id: str = ""
    redacted: dict[str, int] = Field(
        default={},
        description="kind of personal data to how often memory stores question and answer "
        "without it",
    )
    memory: MemoryMode = Field(default="read-write", description="what the run did with memory")
    opted_out: bool = Field(
        default=False, description="memory is off because the user has opted out of it"
    )


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
    retry_after: float | None = Field(
        default=None,
        description="seconds after which asking again makes sense, where the error has them",
    )
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
    metadata: RunMetadata | None = None


class InvocationEnded(InConversation):
    """A run has ended. Everything that memory makes of the run is in this event.

    `answer` is empty where the run has failed: its error is not what the assistant said.
    """

    run_id: Name
    question: LongText
    answer: LongText
    steps: tuple[AgentStep, ...] = Field(default=(), max_length=MAX_STEPS)
    succeeded: bool = Field(default=True, description="whether there is an answer")
    result: Result | None = Field(
        default=None,
        description="how it ended as somebody has judged it: a user, a test, a reward; none where "
        "nobody has",
    )
    memories: tuple[MemoryUsed, ...] = Field(default=(), max_length=MAX_MEMORIES)
    considered: tuple[MemoryConsidered, ...] = Field(default=(), max_length=MAX_MEMORIES)
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
