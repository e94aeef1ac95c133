"""Public: what the author of a tool imports.

A tool is a Python function that an agent may call. Its docstring tells the model what it does, the
annotations of its parameters tell which arguments it takes, and its result is what the model reads:

    from fourtier.tools import RunContext, ToolError, tool


    @tool(idempotent=False, groups=["billing"])
    async def charge(customer: str, cents: int, context: RunContext) -> str:
        "Charge a customer's card."
        if cents <= 0:
            raise ToolError("cents must be positive")
        return await pay(customer, cents, reference=context.run_id)

A package offers the function as an entry point of the group `fourtier.tools`:

    [project.entry-points."fourtier.tools"]
    charge = "my_package.billing:charge"

- `tool` declares whether the function is idempotent, which groups it belongs to, and its name.
- `RunContext` is the run in which the tool is used. A parameter with this annotation is filled in
  by the agent; the model does not see it.
- `ToolError` tells the model why the tool could not do what it was asked.
- `Tool` is the protocol behind all of this, for what is not a function.
"""

from fourtier.tools.contract import RunContext, Tool, ToolError
from fourtier.tools.declaration import tool

__all__ = ["RunContext", "Tool", "ToolError", "tool"]
