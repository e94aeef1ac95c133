"""The three memory tools: search further facts and episodes, and store a fact."""

from collections.abc import Sequence
from datetime import UTC, datetime

from fourtier.schema.completion import ToolSpec
from fourtier.schema.episodes import RETRIEVE_EPISODES, RetrieveEpisodesRequest
from fourtier.schema.facts import (
    RETRIEVE_FACTS,
    STORE_FACT,
    RetrieveFactsRequest,
    StoreFactRequest,
)
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, ToolError

#: The names of the tools.
RETRIEVE, RECALL, STORE = "retrieve_facts", "recall_episodes", "store_fact"
#: Characters of a fact or a search query.
_MAX_TEXT = 8_000


def _one_text(name: str, description: str) -> Metadata:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }


def _text(arguments: Metadata, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_TEXT:
        raise ToolError(f"wrong arguments: {name} must be a text of 1 to {_MAX_TEXT} characters")
    return value.strip()


class _MemoryTool:
    idempotent = True  # equal facts have the same id: stored twice, there is one
    groups: Sequence[str] = ("memory",)


class RetrieveFactsTool(_MemoryTool):
    """Search facts beyond those in the context."""

    spec = ToolSpec(
        name=RETRIEVE,
        description="Search what is known about the user for more facts.",
        parameters=_one_text("query", "what to look for"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """One fact per line, with its date."""
        found = await context.caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                query=_text(arguments, "query"),
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        lines = [f"- {fact.content} ({fact.timestamp:%Y-%m-%d})" for fact in found.facts]
        return "\n".join(lines) or "Nothing is known about that."


class RecallEpisodesTool(_MemoryTool):
    """Search episodes beyond those in the context."""

    spec = ToolSpec(
        name=RECALL,
        description="Search earlier tasks that resemble the one at hand, with their outcome.",
        parameters=_one_text("query", "what the task is about"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """One episode per line."""
        found = await context.caller.call(
            RETRIEVE_EPISODES,
            RetrieveEpisodesRequest(
                query=_text(arguments, "query"),
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        lines = [
            f"- {episode.goal} ({episode.timestamp:%Y-%m-%d}, {episode.result}): {episode.outcome} "
            f"{episode.lessons}".strip()
            for episode in found.episodes
        ]
        return "\n".join(lines) or "No earlier task resembles that."


class StoreFactTool(_MemoryTool):
    """Store a fact."""

    spec = ToolSpec(
        name=STORE,
        description="Remember a fact for future conversations; write a complete sentence.",
        parameters=_one_text("fact_content", "the fact"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """Whether the fact was new."""
        stored = await context.caller.call(
            STORE_FACT,
            StoreFactRequest(
                content=_text(arguments, "fact_content"),
                source=context.conversation_id,
                invocation_id=context.run_id,
                timestamp=datetime.now(UTC),
                user=context.scope.user,
                collection=context.scope.collection,
            ),
        )
        return "Remembered." if stored.created else "That was known already."


def memory_tools() -> list[RetrieveFactsTool | RecallEpisodesTool | StoreFactTool]:
    """All three."""
    return [RetrieveFactsTool(), RecallEpisodesTool(), StoreFactTool()]
