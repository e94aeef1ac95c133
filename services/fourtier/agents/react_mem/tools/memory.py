"""The memory tools: search further facts, episodes and entries, store a fact, and forget."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from fourtier.agents.react_mem.episode_item import episode_in_full, episode_item
from fourtier.agents.react_mem.quotes import fact_item
from fourtier.agents.react_mem.tools.arguments import one_text, text_argument
from fourtier.agents.react_mem.tools.forget import ForgetTool
from fourtier.agents.react_mem.tools.research import ResearchMemoryTool
from fourtier.models.text.instructions import is_order_to_assistant
from fourtier.schema.completion import ToolSpec
from fourtier.schema.episodes import (
    GET_EPISODE,
    RETRIEVE_EPISODES,
    GetEpisodeRequest,
    RetrieveEpisodesRequest,
)
from fourtier.schema.facts import (
    RETRIEVE_FACTS,
    STORE_FACT,
    RetrieveFactsRequest,
    StoreFactRequest,
)
from fourtier.schema.message import ASSISTANT, Metadata, NotStored
from fourtier.tools.contract import RunContext, Tool, ToolError

MemoryToolName = Literal[
    "retrieve_facts", "recall_episodes", "research_memory", "store_fact", "forget"
]
#: The names of the tools.
MEMORY_TOOLS: tuple[MemoryToolName, ...] = get_args(MemoryToolName)
#: Those that change memory.
WRITING_TOOLS: frozenset[str] = frozenset({"store_fact", "forget"})

_NO_SUCH_TASK = "There is no such task."
#: Characters of an id.
_MAX_ID = 512


def fact_to_store(arguments: Metadata) -> str:
    """The fact in the arguments of `store_fact`.

    Raises:
        ToolError: there is none, or it is an order to the assistant.
    """
    content = text_argument(arguments, "fact_content")
    if is_order_to_assistant(content):
        raise ToolError("this is an instruction about your rules or tools, which is never stored")
    return content


class _MemoryTool:
    idempotent = True  # equal facts have the same id: stored twice, there is one
    groups: Sequence[str] = ("memory",)


class RetrieveFactsTool(_MemoryTool):
    """Search facts beyond those in the context."""

    spec = ToolSpec(
        name="retrieve_facts",
        description="Search what is known about the user for more facts.",
        parameters=one_text("query", "what to look for"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """One fact per line, with its source and date."""
        found = await context.caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                query=text_argument(arguments, "query"),
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        return "\n".join(map(fact_item, found.facts)) or "Nothing is known about that."


class RecallEpisodesTool(_MemoryTool):
    """Search episodes beyond those in the context."""

    spec = ToolSpec(
        name="recall_episodes",
        description="Search earlier tasks that resemble the one at hand, with their outcome; or "
        "read one of them whole.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "what the task is about"},
                "id": {"type": "string", "description": "instead of a query: the task to read"},
            },
            "additionalProperties": False,
        },
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """One episode per line, or all of one."""
        if arguments.get("id"):
            return await self._read(text_argument(arguments, "id"), context)
        found = await context.caller.call(
            RETRIEVE_EPISODES,
            RetrieveEpisodesRequest(
                query=text_argument(arguments, "query"),
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        return "\n".join(map(episode_item, found.episodes)) or "No earlier task resembles that."

    async def _read(self, episode_id: str, context: RunContext) -> str:
        if len(episode_id) > _MAX_ID:
            return _NO_SUCH_TASK
        found = await context.caller.call(
            GET_EPISODE,
            GetEpisodeRequest(
                episode_id=episode_id,
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        return episode_in_full(found.episode) if found.episode else _NO_SUCH_TASK


#: Why a fact is not stored, for the model and the user.
_NOT_STORED: Mapping[NotStored, str] = {
    "forgotten": "the user had this forgotten after it was said",
    "opted-out": "the user has opted out of memory",
    "expired": "it was said longer ago than facts are kept here",
    "evicted": "the memory is full, and newer facts have its place",
}


class StoreFactTool(_MemoryTool):
    """Store a fact in the assistant's name.

    A text that the model reads may talk it into a fact. So the fact is the assistant's: it
    supersedes nothing that the user has said, and is no wish of theirs.
    """

    spec = ToolSpec(
        name="store_fact",
        description="Remember a fact for future conversations; write a complete sentence.",
        parameters=one_text("fact_content", "the fact"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """Whether the fact was new.

        Raises:
            ToolError: it is not stored.
        """
        content = fact_to_store(arguments)
        stored = await context.caller.call(
            STORE_FACT,
            StoreFactRequest(
                content=content,
                speaker=ASSISTANT,
                source=context.conversation_id,
                invocation_id=context.run_id,
                timestamp=context.said_at,
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        if stored.not_stored is not None:
            raise ToolError(f'"{content}" is not stored: {_NOT_STORED[stored.not_stored]}')
        if stored.redacted:
            return f"Remembered without what is not kept here: {', '.join(stored.redacted)}."
        return "Remembered." if stored.created else "That was known already."


def memory_tools(names: Collection[MemoryToolName] = MEMORY_TOOLS) -> Sequence[Tool]:
    """Those of the names."""
    tools: list[Tool] = [
        RetrieveFactsTool(),
        RecallEpisodesTool(),
        ResearchMemoryTool(),
        StoreFactTool(),
        ForgetTool(),
    ]
    return [tool for tool in tools if tool.spec.name in names]
