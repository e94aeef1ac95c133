"""The prompt of a step: four tiers, the history and the question under one budget of tokens."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.tiers import Memories
from fourtier.models.text.prompts import read_prompt
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.agent import AgentRequest, AgentStep, MemoryUsed
from fourtier.schema.completion import ChatMessage
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.working_memory import Trace, WorkingMemoryItem

T = TypeVar("T")
_PACKAGE = "fourtier.agents.react_mem"


@dataclass(frozen=True, slots=True)
class Context:
    """The part of the prompt that stays the same through all steps of a run.

    Attributes:
        before: the conversation and the history, oldest first.
        memories: what stands in the prompt, for the metadata of the reply.
    """

    system: str
    before: tuple[ChatMessage, ...]
    question: str
    memories: tuple[MemoryUsed, ...]

    def prompt(self, trace: Trace, *, finish: bool) -> tuple[ChatMessage, ...]:
        """The messages of the next step; `finish` asks for the answer now."""
        messages = [
            ChatMessage(role="system", content=self.system),
            *self.before,
            ChatMessage(role="user", content=self.question),
        ]
        if trace.condensed:
            messages.append(
                ChatMessage(role="assistant", content=f"What I did so far:\n{trace.condensed}")
            )
        messages += map(_as_message, trace.items)
        if finish:
            messages.append(ChatMessage(role="system", content=read_prompt(_PACKAGE, "finish")))
        return tuple(messages)


def build_context(
    request: AgentRequest, memories: Memories, parameters: AgentParameters
) -> Context:
    """Choose what fits: each tier has its share, and the next may use what one leaves.

    Facts and episodes are taken from the best match down, the conversation from the newest
    invocation back.
    """
    instructions = "\n\n".join(
        part
        for part in (
            read_prompt(_PACKAGE, "system"),
            parameters.additional_context.strip(),
            f"State: {request.state}" if request.state else "",
        )
        if part
    )
    budget = max(
        0,
        parameters.context_tokens
        - count_tokens(instructions)
        - count_tokens(request.question)
        - sum(count_tokens(_step_text(step)) for step in request.history),
    )
    spare = 0
    shares = parameters.shares
    facts, spare = _fill(memories.facts, _fact_line, int(budget * shares.facts) + spare)
    episodes, spare = _fill(memories.episodes, _episode_line, int(budget * shares.episodes) + spare)
    invocations, _ = _fill(
        memories.invocations[::-1],
        _invocation_text,
        int(budget * shares.conversation) + spare,
    )
    sections = [
        instructions,
        _section("What you know about the user, best match first", map(_fact_line, facts)),
        _section("Earlier tasks like this one", map(_episode_line, episodes)),
    ]
    return Context(
        system="\n\n".join(section for section in sections if section),
        before=(
            *(message for each in invocations[::-1] for message in _exchange(each)),
            *(ChatMessage(role="assistant", content=_step_text(step)) for step in request.history),
        ),
        question=request.question,
        memories=_memories(facts, episodes, invocations),
    )


def _fill(items: Sequence[T], text: Callable[[T], str], budget: int) -> tuple[list[T], int]:
    """Items from the front as long as they fit, and the tokens that are left."""
    taken: list[T] = []
    for item in items:
        cost = count_tokens(text(item))
        if cost > budget:
            break
        budget -= cost
        taken.append(item)
    return taken, budget


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"{title}:\n{body}" if body else ""


def _fact_line(fact: Fact) -> str:
    speaker = f"{fact.speaker}: " if fact.speaker else ""
    return f"- {speaker}{fact.content} ({fact.timestamp:%Y-%m-%d})"


def _episode_line(episode: Episode) -> str:
    steps = "; ".join(episode.steps)
    lessons = f" Lesson: {episode.lessons}" if episode.lessons else ""
    return (
        f"- {episode.goal} ({episode.timestamp:%Y-%m-%d}, {episode.result}): {steps}. "
        f"Outcome: {episode.outcome}.{lessons}"
    )


def _invocation_text(invocation: InvocationSummary) -> str:
    return f"{invocation.query}\n{invocation.summary}\n{invocation.result}"


def _exchange(invocation: InvocationSummary) -> list[ChatMessage]:
    """An earlier invocation as a question and its reply."""
    question = (
        f"{invocation.speaker}: {invocation.query}" if invocation.speaker else invocation.query
    )
    messages = [ChatMessage(role="user", content=question)]
    reply = "\n".join(part for part in (invocation.summary, invocation.result) if part)
    if reply:
        messages.append(ChatMessage(role="assistant", content=reply))
    return messages


def _step_text(step: AgentStep) -> str:
    parts = (
        step.thought,
        f"{step.action}({step.arguments})" if step.action else "",
        step.observation,
    )
    return "\n".join(part for part in parts if part)


def _as_message(item: WorkingMemoryItem) -> ChatMessage:
    if item.type == "observation":
        tool = item.metadata.get("tool")
        return ChatMessage(
            role="tool", content=item.content, tool=tool if isinstance(tool, str) else ""
        )
    return ChatMessage(role="assistant", content=item.content)


def _memories(
    facts: Sequence[Fact], episodes: Sequence[Episode], invocations: Sequence[InvocationSummary]
) -> tuple[MemoryUsed, ...]:
    """What stands in the context: facts and episodes best first, the conversation newest first."""
    used = [
        *(_used("facts", fact.id, fact.content, fact.timestamp) for fact in facts),
        *(_used("episodes", each.id, each.goal, each.timestamp) for each in episodes),
        *(_used("conversation", each.id, each.query, each.timestamp) for each in invocations),
    ]
    return tuple(used)


def _used(tier: str, memory_id: str, content: str, timestamp: datetime) -> MemoryUsed:
    return MemoryUsed.model_validate(
        {"tier": tier, "id": memory_id, "content": content, "timestamp": timestamp}
    )
