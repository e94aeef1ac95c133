"""The agent's parameters, by the names of the specification."""

from dataclasses import replace
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import Field

from fourtier.agents.react_mem.tools.memory import MEMORY_TOOLS, MemoryToolName
from fourtier.agents.react_mem.tools.topic import MAX_TOOL_SECONDS, TopicToolParameters
from fourtier.models.text.prompts import Prompt, read_prompt
from fourtier.runtime.service.context import Parameters
from fourtier.schema.agent import MAX_STEPS, AgentRequest, MemoryMode, ResearchMode
from fourtier.schema.message import Message
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


PromptName = Literal["system", "finish"]
_PACKAGE = "fourtier.agents.react_mem"
#: From what may be done with memory to what may not.
_MODES: tuple[MemoryMode, ...] = ("read-write", "read-only", "off")


class Shares(Parameters):
    """The part of the context that each tier may fill; what one leaves, the next may use.

    Facts, archive and episodes have theirs together: what is best among them all fills it.

    Half of working memory's share is for the `history` of a request, where it has one.
    """

    facts: float = Field(default=0.25, ge=0, le=1)
    archive: float = Field(default=0.15, ge=0, le=1)
    episodes: float = Field(default=0.1, ge=0, le=1)
    conversation: float = Field(default=0.2, ge=0, le=1)
    working_memory: float = Field(default=0.3, ge=0, le=1)


class AgentParameters(Parameters):
    """What a flow can set."""

    max_iterations: int = Field(
        default=10, ge=1, le=MAX_STEPS, description="steps until it has to answer"
    )
    working_memory_threshold: Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0, lt=1)] = (
        Field(
            default=2_000,
            description="size of the trace from which older steps are condensed: tokens, or below "
            "1 a share of `context-tokens`",
        )
    )
    working_memory_keep: int = Field(
        default=2, ge=1, description="latest steps that stay word for word"
    )
    fact_retrieval_top_k: int = Field(default=10, ge=0)
    archive_retrieval_top_k: int = Field(
        default=10, ge=0, description="entries, word for word, of other conversations and documents"
    )
    research: ResearchMode = Field(
        default="off",
        description="how the archive is searched where the request does not say: `off` once, "
        "`auto` and `deep` by the service `researcher`; `auto` in one more round at most, and only "
        "for words of the question that the first one lacks, `deep` in up to four rounds, for "
        "twice as many entries. `auto` asks no model, `deep` goes by the researcher's method",
    )
    episode_retrieval_top_k: int = Field(default=3, ge=0)
    conversation_last: int = Field(default=20, ge=1, description="newest invocations that are read")
    enable_auto_fact_extraction: bool = True
    enable_episode_recording: bool = True
    additional_context: str = ""
    prompts: dict[PromptName, Prompt] = Field(
        default={}, description="instead of the agent's own; what fences mean is always added"
    )
    context_tokens: int = Field(
        default=3_000, ge=200, description="budget of the whole prompt, with the tools offered"
    )
    shares: Shares = Shares()
    tier_seconds: float = Field(
        default=3.0, gt=0, description="a tier that takes longer is left out"
    )
    deep_research_seconds: float = Field(
        default=30.0, gt=0, description="a deep research that takes longer gives way to one search"
    )
    memory: MemoryMode = Field(
        default="read-write",
        description="`read-only` learns nothing and offers no tool that stores; a request may "
        "narrow it",
    )
    memory_tools: tuple[MemoryToolName, ...] = Field(
        default=MEMORY_TOOLS, description="those of the memory tools that the agent may use"
    )
    tools: tuple[TopicToolParameters, ...] = Field(
        default=(), description="services on topics that the agent may use"
    )
    enable_tools: bool = True
    tool_seconds: float = Field(
        default=60.0, gt=0, le=MAX_TOOL_SECONDS, description="time limit of a tool"
    )
    observation_characters: int = Field(
        default=6_000, ge=100, le=100_000, description="what is longer is cut"
    )
    max_concurrent_runs: int = Field(default=16, ge=1)
    max_runs_in_flight: int = Field(
        default=256, ge=1, description="running and waiting; requests beyond that are shed"
    )

    def with_tier_deadline(self, call: Call[Q, A]) -> Call[Q, A]:
        """A call to a tier, with at least the tier's time as its deadline."""
        return replace(call, deadline=max(call.deadline, self.tier_seconds))

    @property
    def condense_from(self) -> int:
        """Tokens of the trace from which older steps are condensed."""
        threshold = self.working_memory_threshold
        return int(threshold) if threshold >= 1 else max(1, int(threshold * self.context_tokens))

    def memory_mode(self, request: AgentRequest) -> MemoryMode:
        """What a run may do with memory: the narrower of what the flow and the request allow."""
        asked: MemoryMode = request.memory if request.enable_memory else "off"
        return _MODES[max(_MODES.index(self.memory), _MODES.index(asked))]

    def research_mode(self, request: AgentRequest) -> ResearchMode:
        """How a run searches the archive."""
        return request.research or self.research

    def archive_seconds(self, request: AgentRequest) -> float:
        """How long a run waits for the archive: a deep research has time of its own before that."""
        deep = self.research_mode(request) == "deep"
        return self.tier_seconds + (self.deep_research_seconds if deep else 0)

    def prompt(self, name: PromptName) -> str:
        """A prompt of the agent, or what the flow has instead.

        Raises:
            StartupError: the flow names a file that cannot be read, or is empty.
        """
        return read_prompt(_PACKAGE, name, self.prompts.get(name))

    def read_prompts(self) -> None:
        """Read all prompts, so that one that cannot be read is noticed at the start.

        Raises:
            StartupError: one cannot be.
        """
        for name in get_args(PromptName):
            self.prompt(name)
