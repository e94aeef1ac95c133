"""The prompt of a step: memories of all tiers, history and question under one budget of tokens.

The system message has the instructions of the flow alone. All that is remembered, and what tools
answered, stands behind it as quoted data (`models.text.quoting`).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.quotes import (
    entry_item,
    episode_item,
    fact_item,
    invocation_items,
    step_item,
)
from fourtier.agents.react_mem.tiers import Memories
from fourtier.agents.react_mem.trace_messages import trace_messages
from fourtier.models.text.prompts import read_prompt
from fourtier.models.text.quoting import Kind, plain, quoted
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.models.text.wishes import is_wish
from fourtier.schema.agent import AgentRequest, MemoryUsed
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.completion import ChatMessage, ToolSpec
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.working_memory import Trace

T = TypeVar("T")
_PACKAGE = "fourtier.agents.react_mem"
#: What a pair of fences costs.
_FENCES = count_tokens('<data from="conversation">\n</data>')
#: Less of an item says nothing; it is left out and not cut.
_MIN_CUT = 40
_CUT_MARK = count_tokens(" … [cut]")


@dataclass(frozen=True, slots=True)
class Context:
    """The part of the prompt that stays the same through all steps of a run.

    Attributes:
        data: the memories, the history and the state, each between its fences.
        trace_tokens: what the trace of the run may cost.
        tools: the names of those that the run may use.
        memories: what stands in the prompt, for the metadata of the reply.
    """

    system: str
    data: str
    question: str
    finish: str
    trace_tokens: int
    tools: frozenset[str]
    memories: tuple[MemoryUsed, ...]

    def prompt(self, trace: Trace, *, finish: bool) -> tuple[ChatMessage, ...]:
        """The messages of the next step; `finish` asks for the answer now."""
        messages = [ChatMessage(role="system", content=self.system)]
        if self.data:
            messages.append(ChatMessage(role="user", content=self.data))
        messages.append(ChatMessage(role="user", content=self.question))
        messages += trace_messages(trace, self.trace_tokens, self.tools)
        if finish:
            messages.append(ChatMessage(role="system", content=self.finish))
        return tuple(messages)


def build_context(
    request: AgentRequest,
    memories: Memories,
    parameters: AgentParameters,
    tools: Sequence[ToolSpec] = (),
) -> Context:
    """Choose what fits: each tier has its share, and the next may use what one leaves.

    Facts, entries of the archive and episodes are taken from the best match down, the conversation
    and the history from the newest back. A long entry, episode, exchange or step is cut; a fact is
    whole or is left out.
    """
    system = "\n\n".join(
        part
        for part in (
            parameters.prompt("system"),
            read_prompt(_PACKAGE, "fences"),
            parameters.additional_context.strip(),
        )
        if part
    )
    question, finish = plain(request.question), parameters.prompt("finish")
    state = quoted("state", [request.state] if request.state else [])
    fixed = (*map(_schema, tools), system, question, finish, state)
    budget = max(0, parameters.context_tokens - sum(map(count_tokens, fixed)))
    shares = parameters.shares

    facts = _fill(memories.facts, _one(fact_item), int(budget * shares.facts), cut=False)
    entries = _fill(memories.entries, _one(entry_item), int(budget * shares.archive) + facts.left)
    episodes = _fill(
        memories.episodes, _one(episode_item), int(budget * shares.episodes) + entries.left
    )
    invocations = _fill(
        memories.invocations[::-1],
        invocation_items,
        int(budget * shares.conversation) + episodes.left,
    )
    earlier = _fill([memories.earlier] if memories.earlier else [], _one(str), invocations.left)
    working = int(budget * shares.working_memory)
    history = _fill(request.history[::-1], _one(step_item), working // 2)
    wishes, others = _apart(facts, request.user)
    data = (
        _quoted("wishes", wishes),
        _quoted("facts", others),
        _quoted("archive", entries.texts),
        _quoted("episodes", episodes.texts),
        _quoted("conversation", [*earlier.texts, *invocations.texts[::-1]]),
        _quoted("history", history.texts[::-1]),
        state,
    )
    return Context(
        system=system,
        data="\n\n".join(part for part in data if part),
        question=question,
        finish=finish,
        trace_tokens=working - working // 2 + history.left + earlier.left,
        tools=frozenset(tool.name for tool in tools),
        memories=_memories(facts.items, entries.items, episodes.items, invocations.items),
    )


@dataclass(frozen=True, slots=True)
class _Filled(Generic[T]):
    """Items that were taken, the texts of each, and the tokens that are left."""

    items: Sequence[T]
    texts: Sequence[Sequence[str]]
    left: int


def _fill(
    items: Sequence[T], texts_of: Callable[[T], Sequence[str]], budget: int, *, cut: bool = True
) -> _Filled[T]:
    """Items from the front that fit. One that does not may be cut, to half of what is left."""
    left = budget - _FENCES
    taken: list[T] = []
    texts: list[Sequence[str]] = []
    for item in items:
        shown = texts_of(item)
        if (cost := _cost(shown)) > left:
            room = left // 2 // len(shown) - _CUT_MARK
            if not cut or room < _MIN_CUT:
                continue
            shown = [_cut(text, room) for text in shown]
            cost = _cost(shown)
        left -= cost
        taken.append(item)
        texts.append(shown)
    return _Filled(taken, texts, left if taken else budget)


def _cost(texts: Sequence[str]) -> int:
    """Tokens of the texts between fences, without the fences."""
    return max(0, count_tokens(quoted("conversation", texts)) - _FENCES)


def _cut(text: str, tokens: int) -> str:
    return text if count_tokens(text) <= tokens else f"{clip(text, tokens)} … [cut]"


def _apart(
    facts: _Filled[Fact], user: str
) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
    """The user's own wishes for how the assistant writes, and all other facts."""
    wishes: list[Sequence[str]] = []
    others: list[Sequence[str]] = []
    for fact, text in zip(facts.items, facts.texts, strict=True):
        own = fact.speaker in {"", user} and is_wish(fact.content)
        (wishes if own else others).append(text)
    return wishes, others


def _one(text_of: Callable[[T], str]) -> Callable[[T], Sequence[str]]:
    return lambda item: (text_of(item),)


def _quoted(kind: Kind, texts: Iterable[Sequence[str]]) -> str:
    return quoted(kind, [text for each in texts for text in each])


def _schema(tool: ToolSpec) -> str:
    """About what an endpoint makes of a tool in the prompt."""
    return f"{tool.name} {tool.description} {json.dumps(tool.parameters, ensure_ascii=False)}"


def _memories(
    facts: Sequence[Fact],
    entries: Sequence[ArchiveEntry],
    episodes: Sequence[Episode],
    invocations: Sequence[InvocationSummary],
) -> tuple[MemoryUsed, ...]:
    """What stands in the context: the best matches first, of the conversation the newest."""
    used = [
        *(_used("facts", fact.id, fact.content, fact.timestamp) for fact in facts),
        *(_used("archive", each.id, each.content, each.timestamp) for each in entries),
        *(_used("episodes", each.id, each.goal, each.timestamp) for each in episodes),
        *(_used("conversation", each.id, each.query, each.timestamp) for each in invocations),
    ]
    return tuple(used)


def _used(tier: str, memory_id: str, content: str, timestamp: datetime) -> MemoryUsed:
    return MemoryUsed.model_validate(
        {"tier": tier, "id": memory_id, "content": content, "timestamp": timestamp}
    )
