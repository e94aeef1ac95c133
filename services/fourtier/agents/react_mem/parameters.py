"""The agent's parameters, by the names of the specification."""

from dataclasses import replace
from typing import TypeVar

from pydantic import Field

from fourtier.agents.react_mem.tools.topic import MAX_TOOL_SECONDS, TopicToolParameters
from fourtier.runtime.service.context import Parameters
from fourtier.schema.agent import MAX_STEPS
from fourtier.schema.message import Message
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class Shares(Parameters):
    """The part of the context that each tier may fill; what one leaves, the next may use."""

    facts: float = Field(default=0.25, ge=0, le=1)
    episodes: float = Field(default=0.15, ge=0, le=1)
    conversation: float = Field(default=0.25, ge=0, le=1)
    working_memory: float = Field(default=0.35, ge=0, le=1)


class AgentParameters(Parameters):
    """What a flow can set."""

    max_iterations: int = Field(
        default=10, ge=1, le=MAX_STEPS, description="steps until it has to answer"
    )
    working_memory_threshold: int = Field(
        default=2_000, ge=1, description="tokens of the trace from which older steps are condensed"
    )
    working_memory_keep: int = Field(
        default=2, ge=1, description="latest steps that stay word for word"
    )
    fact_retrieval_top_k: int = Field(default=5, ge=0)
    episode_retrieval_top_k: int = Field(default=3, ge=0)
    conversation_last: int = Field(default=20, ge=1, description="newest invocations that are read")
    enable_auto_fact_extraction: bool = True
    enable_episode_recording: bool = True
    additional_context: str = ""
    context_tokens: int = Field(default=3_000, ge=200, description="budget of the whole prompt")
    shares: Shares = Shares()
    tier_seconds: float = Field(
        default=3.0, gt=0, description="a tier that takes longer is left out"
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
