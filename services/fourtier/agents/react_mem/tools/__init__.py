"""What the agent can do: its own tools, Python functions by entry point, services on topics."""

from fourtier.tools.functions import tool

__all__ = ["tool"]
