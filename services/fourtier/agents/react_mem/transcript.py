"""A run's trace as messages of the prompt: each action is a tool call, which its result names."""

from collections.abc import Iterator, Sequence

from fourtier.schema.completion import ChatMessage, ToolCall
from fourtier.schema.working_memory import WorkingMemoryItem


def as_messages(items: Sequence[WorkingMemoryItem]) -> Iterator[ChatMessage]:
    """The messages of thoughts, actions and observations, in their order.

    A thought and the action that follows it in the same step are one message.
    """
    thought: WorkingMemoryItem | None = None
    for item in items:
        if thought is not None and (item.type != "action" or item.step != thought.step):
            yield ChatMessage(role="assistant", content=thought.content)
            thought = None
        if item.type == "thought":
            thought = item
        elif item.type == "action":
            yield ChatMessage(
                role="assistant",
                content=thought.content if thought is not None else "",
                tool_calls=(_call(item),),
            )
            thought = None
        elif item.type == "observation":
            yield ChatMessage(
                role="tool",
                content=item.content,
                tool=_tool(item),
                tool_call_id=_call_id(item),
            )
        else:
            yield ChatMessage(role="assistant", content=item.content)
    if thought is not None:
        yield ChatMessage(role="assistant", content=thought.content)


def _call(action: WorkingMemoryItem) -> ToolCall:
    arguments = action.metadata.get("arguments")
    return ToolCall(
        id=_call_id(action),
        name=_tool(action),
        arguments=arguments if isinstance(arguments, dict) else {},
    )


def _call_id(item: WorkingMemoryItem) -> str:
    """A step has one action; short, because endpoints bound the ids of tool calls."""
    return f"call_{item.step}"


def _tool(item: WorkingMemoryItem) -> str:
    tool = item.metadata.get("tool")
    return tool if isinstance(tool, str) else ""
