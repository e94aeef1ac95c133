"""Public: what the author of a tool imports.

A tool is a Python function that a package offers as an entry point of the group `fourtier.tools`.
"""

from fourtier.tools.contract import RunContext, Tool, ToolError
from fourtier.tools.functions import tool

__all__ = ["RunContext", "Tool", "ToolError", "tool"]
