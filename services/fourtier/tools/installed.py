"""The tools that installed packages offer."""

from importlib.metadata import entry_points

from fourtier.runtime.errors import StartupError
from fourtier.tools.functions import FunctionTool

#: The group of entry points; each names a function.
GROUP = "fourtier.tools"


def installed_tools() -> list[FunctionTool]:
    """Functions that installed packages offer as entry points of the group `fourtier.tools`.

    Raises:
        StartupError: one cannot be imported, or its arguments cannot be described.
    """
    found: list[FunctionTool] = []
    for entry in entry_points(group=GROUP):
        try:
            found.append(FunctionTool(entry.load(), entry.name))
        except Exception as error:  # a module may raise anything when it is imported
            raise StartupError(
                f"the tool {entry.name} ({entry.value}) cannot be used: {error}"
            ) from error
    return found
