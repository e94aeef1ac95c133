"""The prompt of a step: memories of all tiers, history and question under one budget of tokens.

The system message has the instructions of the flow alone. All that is remembered, and what tools
answered, stands behind it as quoted data (`models.text.quoting`).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fourtier.agents.react_mem.evidence import Fence, choose
from fourtier.agents.react_mem.fitting import FENCES, cost, cut_to_fit
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.quotes import invocation_items, step_item
from fourtier.agents.react_mem.tiers import Memories
from fourtier.agents.react_mem.trace_messages import trace_messages
from fourtier.models.text.prompts import read_prompt
from fourtier.models.text.quoting import Kind, plain, quoted
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.agent import AgentRequest, MemoryUsed
from fourtier.schema.completion import ChatMessage, ToolSpec
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.tiers import MemoryConsidered
from fourtier.schema.working_memory import Trace

T = TypeVar("T")
_PACKAGE = "fourtier.agents.react_mem"
#: In the order in which they stand in the prompt.
_FENCES_OF_EVIDENCE: Sequence[Fence] = ("wishes", "facts", "archive", "episodes")


@dataclass(frozen=True, slots=True)
class Context:
    """The part of the prompt that stays the same through all steps of a run.

    Attributes:
        data: the memories, the history and the state, each between its fences.
        trace_tokens: what the trace of the run may cost.
        tools: the names of those that the run may use.
        memories: what stands in the prompt, for the metadata of the reply.
        considered: all that was found, likewise.
    """

    system: str
    data: str
    question: str
    finish: str
    trace_tokens: int
    tools: frozenset[str]
    memories: tuple[MemoryUsed, ...]
    considered: tuple[MemoryConsidered, ...]

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
    """Choose what fits: what one tier leaves of its share, the next may use.

    Facts, entries of the archive and episodes have their shares together, and stand in one ranking;
    the conversation and the history are taken from the newest back. A long exchange or step is cut.
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

    evidence = choose(
        request, memories, int(budget * (shares.facts + shares.archive + shares.episodes))
    )
    invocations = _fill(
        memories.invocations[::-1],
        invocation_items,
        int(budget * shares.conversation) + evidence.left,
    )
    earlier = _fill([memories.earlier] if memories.earlier else [], _one(str), invocations.left)
    working = int(budget * shares.working_memory)
    history = _fill(request.history[::-1], _one(step_item), working // 2)
    data = (
        *(quoted(fence, evidence.texts.get(fence, ())) for fence in _FENCES_OF_EVIDENCE),
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
        memories=(*evidence.used, *map(_used, invocations.items)),
        considered=tuple(evidence.considered),
    )


@dataclass(frozen=True, slots=True)
class _Filled(Generic[T]):
    """Items that were taken, the texts of each, and the tokens that are left."""

    items: Sequence[T]
    texts: Sequence[Sequence[str]]
    left: int


def _fill(items: Sequence[T], texts_of: Callable[[T], Sequence[str]], budget: int) -> _Filled[T]:
    """Items from the front that fit. One that does not may be cut, to half of what is left."""
    left = budget - FENCES
    taken: list[T] = []
    texts: list[Sequence[str]] = []
    for item in items:
        shown = texts_of(item)
        if (price := cost(shown)) > left:
            if (fitting := cut_to_fit(shown, left)) is None:
                continue
            shown, price = fitting, cost(fitting)
        left -= price
        taken.append(item)
        texts.append(shown)
    return _Filled(taken, texts, left if taken else budget)


def _one(text_of: Callable[[T], str]) -> Callable[[T], Sequence[str]]:
    return lambda item: (text_of(item),)


def _quoted(kind: Kind, texts: Iterable[Sequence[str]]) -> str:
    return quoted(kind, [text for each in texts for text in each])


def _schema(tool: ToolSpec) -> str:
    """About what an endpoint makes of a tool in the prompt."""
    return f"{tool.name} {tool.description} {json.dumps(tool.parameters, ensure_ascii=False)}"


def _used(invocation: InvocationSummary) -> MemoryUsed:
    return MemoryUsed(
        tier="conversation",
        id=invocation.id,
        content=invocation.query,
        timestamp=invocation.timestamp,
    )
