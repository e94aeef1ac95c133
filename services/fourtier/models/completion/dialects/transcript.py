"""The prompt of a request as turns; an earlier action and its result are one turn.

Each dialect shows an action in the form in which the model is to write the next one: as text, it
would teach the model to write its tool calls as text too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fourtier.schema.completion import ChatMessage
from fourtier.schema.message import Metadata


@dataclass(frozen=True, slots=True)
class Said:
    """A plain message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Acted:
    """An earlier step: the thought, the action and what came of it.

    Attributes:
        call_id: names the call in the prompt.
    """

    thought: str
    tool: str
    arguments: Metadata
    result: str
    call_id: str


def read_transcript(messages: Sequence[ChatMessage]) -> list[Said | Acted]:
    """The turns of a prompt.

    System messages that do not stand at the beginning become the user's, and neighbours of one
    role are joined: the chat templates of some models reject anything else. For the same reason a
    call without a result gets an empty one, and a result without its call a call without arguments,
    or, where it does not name its tool, it becomes the user's.
    """
    results = {
        message.tool_call_id: message.content
        for message in messages
        if message.role == "tool" and message.tool_call_id
    }
    called: set[str] = set()
    turns: list[Said | Acted] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in called:
                turns.append(_orphan(message, len(turns)))
        elif message.tool_calls:
            turns += _steps(message, results)
            called.update(call.id for call in message.tool_calls)
        else:
            beginning = all(isinstance(turn, Said) and turn.role == "system" for turn in turns)
            late = message.role == "system" and not beginning
            turns.append(Said("user" if late else message.role, message.content))
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


def _steps(message: ChatMessage, results: Mapping[str, str]) -> Iterator[Acted]:
    """A step for each call of a message; what was thought stands before the first."""
    thought = message.content
    for call in message.tool_calls:
        yield Acted(thought, call.name, call.arguments, results.get(call.id, ""), call.id)
        thought = ""


def _orphan(result: ChatMessage, number: int) -> Said | Acted:
    """A result whose call was left out of the prompt, or that an older agent sends without one."""
    if not result.tool:
        return Said("user", f"Result:\n{result.content}")
    return Acted("", result.tool, {}, result.content, result.tool_call_id or f"earlier_{number}")
