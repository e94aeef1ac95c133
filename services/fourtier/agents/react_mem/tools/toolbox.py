"""The tools of a flow, and running one so that nothing it does can break the run."""

import asyncio
import json
import logging
from collections.abc import Sequence

from fourtier.agents.react_mem.tools.builtin import calculator, clock
from fourtier.agents.react_mem.tools.memory import memory_tools
from fourtier.agents.react_mem.tools.topic import TopicTool, TopicToolParameters
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError, StartupError
from fourtier.schema.completion import MALFORMED_ARGUMENTS, ToolSpec
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, Tool, ToolError
from fourtier.tools.functions import FunctionTool, installed_tools

log = logging.getLogger(__name__)


class Toolbox:
    """Tools by their names.

    `seconds` is how long one may take; `limit` how many characters of a result are kept.

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

    def offered(self, groups: Sequence[str], *, memory: bool) -> tuple[ToolSpec, ...]:
        """What a run may use: tools of its groups, those of memory only where memory is on."""
        return tuple(
            tool.spec
            for tool in self._tools.values()
            if (not groups or set(groups) & set(tool.groups))
            and (memory or "memory" not in tool.groups)
        )

    def is_idempotent(self, name: str) -> bool:
        """Whether a tool may be run again; one that does not exist does nothing at all."""
        return name not in self._tools or self._tools[name].idempotent

    async def use(
        self, name: str, arguments: Metadata, offered: Sequence[ToolSpec], context: RunContext
    ) -> str:
        """Run a tool; whatever goes wrong becomes the observation."""
        if (wrong := _wrong_call(name, arguments, offered)) is not None:
            return wrong
        try:
            async with asyncio.timeout(self._seconds):
                result = await self._tools[name].run(arguments, context)
        except TimeoutError:
            return f"The tool {name} did not finish within {self._seconds:g} seconds."
        except (ToolError, FourtierError, BusError) as error:
            return f"The tool {name} failed: {error}"
        except Exception as error:  # a user's function may raise anything, the run goes on
            log.exception("The tool %s failed with arguments %s.", name, json.dumps(arguments))
            return f"The tool {name} failed: {type(error).__name__}: {error}"
        if len(result) > self._limit:
            return f"{result[: self._limit]} [cut: {len(result)} characters in all]"
        return result


def _wrong_call(name: str, arguments: Metadata, offered: Sequence[ToolSpec]) -> str | None:
    """What is wrong with a call before anything is run; None when nothing is."""
    names = [spec.name for spec in offered]
    if name not in names:
        return f"There is no tool {name!r}. There are: {', '.join(names) or 'none'}."
    if MALFORMED_ARGUMENTS in arguments:
        return f"The arguments were no JSON object: {arguments[MALFORMED_ARGUMENTS]}"
    return None


def build_toolbox(
    topic_tools: Sequence[TopicToolParameters], *, seconds: float, limit: int
) -> Toolbox:
    """All tools of a flow: built in, installed, and those on topics.

    Raises:
        StartupError: one cannot be loaded, or two have one name.
    """
    tools: list[Tool] = [
        *memory_tools(),
        FunctionTool(calculator),
        FunctionTool(clock),
        *installed_tools(),
        *map(TopicTool, topic_tools),
    ]
    return Toolbox(tools, seconds=seconds, limit=limit)
