"""The agent's parameters, by the names of the specification."""

from dataclasses import replace
from typing import TypeVar

from pydantic import Field

from fourtier.agents.react_mem.tools.topic import TopicToolParameters
from fourtier.runtime.service.context import Parameters
from fourtier.schema.message import Message
from fourtier.schema.topics import Call

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class Shares(Parameters):
    """How much of the context each tier may take at most; what one leaves, the next may use."""

    facts: float = Field(default=0.25, ge=0, le=1)
    episodes: float = Field(default=0.15, ge=0, le=1)
    conversation: float = Field(default=0.25, ge=0, le=1)
    working_memory: float = Field(default=0.35, ge=0, le=1)


class AgentParameters(Parameters):
    """What a flow can set."""

    max_iterations: int = Field(default=10, ge=1, description="steps until it has to answer")
    working_memory_threshold: int = Field(
        default=2_000, ge=1, description="tokens of trace from which older steps are condensed"
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
    tool_seconds: float = Field(default=60.0, gt=0)
    observation_characters: int = Field(default=6_000, ge=100)
    max_concurrent_runs: int = Field(default=16, ge=1)
    max_runs_in_flight: int = Field(
        default=256, ge=1, description="running and waiting; what is beyond that is refused"
    )

    def patient(self, call: Call[Q, A]) -> Call[Q, A]:
        """A call to a tier, which is given up with the tier and not before."""
        return replace(call, deadline=max(call.deadline, self.tier_seconds))
