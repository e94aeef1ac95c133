"""The tools of a flow; whatever a tool does, it cannot break the run."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace

from fourtier.agents.react_mem.observation import Observation
from fourtier.agents.react_mem.tools.builtin import calculator, clock
from fourtier.agents.react_mem.tools.forget import ForgetTool
from fourtier.agents.react_mem.tools.memory import (
    MEMORY_TOOLS,
    WRITING_TOOLS,
    MemoryToolName,
    memory_tools,
)
from fourtier.agents.react_mem.tools.topic import TopicTool, TopicToolParameters
from fourtier.models.genai import agent_operation, error_type
from fourtier.runtime.errors import FourtierError, StartupError
from fourtier.schema.agent import MemoryMode
from fourtier.schema.completion import MALFORMED_ARGUMENTS, ToolSpec
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, Tool, ToolError
from fourtier.tools.functions import FunctionTool
from fourtier.tools.installed import installed_tools

log = logging.getLogger(__name__)

#: Characters of a tool's arguments as JSON; working memory takes no more in one item.
MAX_ARGUMENTS = 24_000


class Toolbox:
    """Tools by their names.

    `seconds` is the time limit of a tool, `limit` how many characters of a result are used.

    Raises:
        StartupError: two tools have one name.
    """

    def __init__(self, tools: Sequence[Tool], *, seconds: float, limit: int) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            names = [tool.spec.name for tool in tools]
            twice = {name for name in names if names.count(name) > 1}
            raise StartupError(f"more than one tool is named {', '.join(sorted(twice))}")
        self._seconds = seconds
        self._limit = limit

    def offered(self, groups: Sequence[str], memory: MemoryMode) -> tuple[ToolSpec, ...]:
        """What a run may use: tools of its groups, memory tools as far as memory may be used."""
        return tuple(
            tool.spec
            for tool in self._tools.values()
            if (not groups or set(groups) & set(tool.groups))
            and (memory != "off" or "memory" not in tool.groups)
            and (memory == "read-write" or tool.spec.name not in WRITING_TOOLS)
        )

    def is_idempotent(self, name: str) -> bool:
        """Whether a tool may be run again; an unknown one has no effect."""
        return name not in self._tools or self._tools[name].idempotent

    async def use(
        self, name: str, arguments: Metadata, offered: Sequence[ToolSpec], context: RunContext
    ) -> Observation:
        """Run a tool; whatever goes wrong becomes the observation."""
        if (wrong := _wrong_call(name, arguments, offered)) is not None:
            return Observation(self._bounded(wrong), "rejected")
        observed = await self._run(self._tools[name], arguments, context)
        return replace(observed, text=self._bounded(observed.text))

    async def _run(self, tool: Tool, arguments: Metadata, context: RunContext) -> Observation:
        name = tool.spec.name
        labels = {"gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        too_late = f"did not finish within {self._seconds:g} seconds."
        with agent_operation("execute_tool", name, labels) as operation:
            try:
                async with asyncio.timeout(self._seconds):
                    if isinstance(tool, ForgetTool):
                        return await tool.observe(arguments, context)
                    return Observation(await tool.run(arguments, context))
            except TimeoutError:
                operation.fail("timeout")
                reason = too_late
            except (ToolError, FourtierError) as error:
                operation.fail(error_type(error))
                reason = f"failed: {error}"
            except Exception as error:  # a user's function may raise anything, the run continues
                log.exception("The tool %s failed.", name)
                operation.fail(error_type(error))
                reason = f"failed: {type(error).__name__}: {error}"
            # Whether it was cut off before or behind the first deletion is not known.
            forgot = (
                isinstance(tool, ForgetTool) and reason == too_late and "confirmed" in arguments
            )
            for_user = f"The tool {name} {reason}" if name in WRITING_TOOLS else ""
            return Observation(f"The tool {name} {reason}", "failed", for_user, forgot=forgot)

    def _bounded(self, result: str) -> str:
        if len(result) > self._limit:
            return f"{result[: self._limit]} [cut: {len(result)} characters in all]"
        return result


def _wrong_call(name: str, arguments: Metadata, offered: Sequence[ToolSpec]) -> str | None:
    """What is wrong with a call, before anything is run; None if nothing is."""
    names = [spec.name for spec in offered]
    if name not in names:
        return f"There is no tool {name!r}. There are: {', '.join(names) or 'none'}."
    if MALFORMED_ARGUMENTS in arguments:
        return (
            f"The arguments must be a JSON object of at most {MAX_ARGUMENTS} characters, not: "
            f"{arguments[MALFORMED_ARGUMENTS]}"
        )
    return None


def build_toolbox(
    topic_tools: Sequence[TopicToolParameters],
    *,
    seconds: float,
    limit: int,
    memory: Collection[MemoryToolName] = MEMORY_TOOLS,
) -> Toolbox:
    """All tools of a flow: built in, installed, and those on topics; of memory's the named ones.

    Raises:
        StartupError: one cannot be loaded, or two have one name.
    """
    tools: list[Tool] = [
        *memory_tools(memory),
        FunctionTool(calculator),
        FunctionTool(clock),
        *installed_tools(),
        *map(TopicTool, topic_tools),
    ]
    return Toolbox(tools, seconds=seconds, limit=limit)
