"""The prompt of a request as turns; an earlier action and its result are one turn.

The contract has no ids of tool calls: an earlier action is the text of an assistant message,
`tool({"argument": 1})`, right before the message of role `tool` that has its result. Here the text
is read back into an action, and each dialect shows it in the form in which the model is to write
the next one. Left as text, it would teach the model to write its tool calls as text too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fourtier.models.completion.dialects.arguments import read_arguments
from fourtier.schema.completion import ChatMessage
from fourtier.schema.message import Metadata

_CALL = re.compile(r"\s*(?P<tool>[^\s(]+)\((?P<arguments>.*)\)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said:
    """A plain message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Acted:
    """An earlier step: the thought, the action and what came of it."""

    thought: str
    tool: str
    arguments: Metadata
    result: str


def read_transcript(messages: Sequence[ChatMessage]) -> list[Said | Acted]:
    """The turns of a prompt.

    System messages that do not stand at the beginning become the user's, and neighbours of one
    role are joined: the chat templates of some models reject anything else.
    """
    turns: list[Said | Acted] = []
    for message in messages:
        if message.role != "tool":
            beginning = all(isinstance(turn, Said) and turn.role == "system" for turn in turns)
            late = message.role == "system" and not beginning
            turns.append(Said("user" if late else message.role, message.content))
        elif message.tool:
            turns.append(_step(turns, message))
        else:
            turns.append(Said("user", f"Result:\n{message.content}"))
    return joined(turns)


def with_system(turns: Sequence[Said | Acted], text: str) -> list[Said | Acted]:
    """The turns with more text at the end of the system message."""
    return joined([*_systems(turns), Said("system", text), *turns[len(_systems(turns)) :]])


def joined(turns: Sequence[Said | Acted]) -> list[Said | Acted]:
    """The turns with neighbours of one role made into one message."""
    result: list[Said | Acted] = []
    for turn in turns:
        last = result[-1] if result else None
        if isinstance(turn, Said) and isinstance(last, Said) and turn.role == last.role:
            result[-1] = Said(turn.role, f"{last.content}\n\n{turn.content}")
        else:
            result.append(turn)
    return result


def _systems(turns: Sequence[Said | Acted]) -> list[Said]:
    first = turns[0] if turns else None
    return [first] if isinstance(first, Said) and first.role == "system" else []


def _step(turns: list[Said | Acted], result: ChatMessage) -> Acted:
    """Take the action that led to a result, and its thought, from the end of the turns."""
    arguments: Metadata = {}
    thought = ""
    call = _CALL.fullmatch(_assistant_text(turns))
    if call and call["tool"] == result.tool:
        turns.pop()
        arguments = read_arguments(call["arguments"]) or {}
        thought = _assistant_text(turns)
        if thought:
            turns.pop()
    return Acted(thought, result.tool, arguments, result.content)


def _assistant_text(turns: Sequence[Said | Acted]) -> str:
    last = turns[-1] if turns else None
    return last.content if isinstance(last, Said) and last.role == "assistant" else ""
