"""The tool that researches a question in the archive."""

from collections.abc import Sequence
from contextlib import aclosing

from fourtier.agents.react_mem.quotes import entry_item
from fourtier.agents.react_mem.research_ids import research_of
from fourtier.agents.react_mem.tools.arguments import one_text, text_argument
from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Metadata
from fourtier.schema.researcher import RESEARCH, ResearchRequest
from fourtier.tools.contract import RunContext

#: Tokens of what the tool hands to the model.
_MAX_TOKENS = 1_000


class ResearchMemoryTool:
    """Search what was said and read in several rounds."""

    idempotent = True  # a research that was interrupted goes on, and one that ended is told again
    groups: Sequence[str] = ("memory",)
    spec = ToolSpec(
        name="research_memory",
        description="Search earlier conversations and documents, word for word, in several rounds: "
        "for a question that takes more than one step.",
        parameters=one_text("question", "the whole question, with the names in it"),
    )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """One entry per line, with its speaker and date."""
        request = ResearchRequest(
            question=text_argument(arguments, "question"),
            research_id=research_of(context.run_id, context.step),
            max_tokens=_MAX_TOKENS,
            user=context.scope.user,
            collection=context.scope.collection,
        )
        lines: list[str] = []
        async with aclosing(context.caller.stream(RESEARCH, request)) as steps:
            async for step in steps:
                lines += [entry_item(each.entry) for each in step.evidence]
        return "\n".join(lines) or "Nothing was said or read about that."
