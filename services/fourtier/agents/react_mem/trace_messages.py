"""The trace of a run in the prompt: as much of it as the budget has room for, results as data."""

import json
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter

from pydantic import JsonValue

from fourtier.agents.react_mem.transcript import as_messages
from fourtier.models.text.quoting import plain, quoted
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.schema.completion import ChatMessage
from fourtier.schema.working_memory import Trace, WorkingMemoryItem

#: Tokens that the latest step has at least, and of them those of a text in the arguments of a call.
_MIN_STEP, _MIN_TEXT = 120, 20
_CUT = "… [cut]"
_UNKNOWN = "unknown_tool"
_LEFT_OUT = "({} steps of this task are left out here.)"
#: What the fences cost, and the line that says how much is left out.
_RESERVED = count_tokens(quoted("steps", [_LEFT_OUT.format(100)]))


def trace_messages(trace: Trace, budget: int, tools: Collection[str]) -> Sequence[ChatMessage]:
    """The condensed steps and the latest ones word for word, in about `budget` tokens.

    Whole steps, from the latest back. One that does not fit is cut, and those before it are left
    out; of the latest something always stays. A tool that is not one of `tools` is not named: a
    result may have told the model what to call.
    """
    steps = [tuple(items) for _, items in groupby(trace.items, key=attrgetter("step"))]
    taken: list[Sequence[WorkingMemoryItem]] = []
    left = budget - _RESERVED
    while steps and (left > _MIN_STEP or not taken):
        items = steps.pop()
        shown = [_shown(item, tools) for item in items]
        if (cost := _cost(shown)) > left:
            taken.append(_cut(items, max(left, _MIN_STEP), tools))
            left = 0
        else:
            taken.append(shown)
            left -= cost
    return [
        *_before(trace.condensed, len(steps), left),
        *as_messages([item for items in reversed(taken) for item in items]),
    ]


def _before(condensed: str, left_out: int, budget: int) -> Sequence[ChatMessage]:
    """What stands for the steps that are not shown."""
    text = clip(condensed, max(0, budget))
    if left_out:
        text = f"{text}\n{_LEFT_OUT.format(left_out)}".strip()
    return [ChatMessage(role="user", content=quoted("steps", [text]))] if text else []


def _shown(item: WorkingMemoryItem, tools: Collection[str]) -> WorkingMemoryItem:
    """The item as it may stand in a prompt: what a tool answered is data, all else the model's."""
    metadata = dict(item.metadata)
    if metadata.get("tool", _UNKNOWN) not in tools:
        metadata["tool"] = _UNKNOWN
    if isinstance(arguments := metadata.get("arguments"), dict):
        metadata["arguments"] = _without_tokens(arguments)
    observed = item.type == "observation"
    content = quoted("tool", [item.content]) if observed else plain(item.content)
    return item.model_copy(update={"content": content, "metadata": metadata})


def _cut(
    items: Sequence[WorkingMemoryItem], budget: int, tools: Collection[str]
) -> Sequence[WorkingMemoryItem]:
    """A step in at most about `budget` tokens; its result is what keeps most."""
    others = [
        _shown(_shortened(item, budget // 4), tools) for item in items if item.type != "observation"
    ]
    room = max(_MIN_TEXT, budget - _cost(others) - count_tokens(quoted("tool", [_CUT])))
    return [
        *others,
        *(_shown(_shortened(item, room), tools) for item in items if item.type == "observation"),
    ]


def _shortened(item: WorkingMemoryItem, tokens: int) -> WorkingMemoryItem:
    """The item with its text, and if it is a call the texts of its arguments, cut."""
    arguments = item.metadata.get("arguments")
    if isinstance(arguments, dict) and count_tokens(json.dumps(arguments)) > tokens:
        short = {name: _short(value) for name, value in arguments.items()}
        return item.model_copy(update={"metadata": item.metadata | {"arguments": short}})
    if count_tokens(item.content) <= tokens:
        return item
    return item.model_copy(update={"content": f"{clip(item.content, tokens)} {_CUT}"})


def _short(value: JsonValue) -> JsonValue:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if count_tokens(text) <= _MIN_TEXT else f"{clip(text, _MIN_TEXT)} {_CUT}"


def _without_tokens(value: JsonValue) -> JsonValue:
    """The value with every text in it as it may stand outside of fences."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return list(map(_without_tokens, value))
    if isinstance(value, dict):
        return {plain(name): _without_tokens(each) for name, each in value.items()}
    return value


def _cost(items: Sequence[WorkingMemoryItem]) -> int:
    """Tokens of the items as messages; arguments count as the JSON that they are sent as."""
    texts = (
        json.dumps(item.metadata["arguments"], ensure_ascii=False)
        if item.type == "action" and "arguments" in item.metadata
        else item.content
        for item in items
    )
    return sum(map(count_tokens, texts))
