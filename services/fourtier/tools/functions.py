"""Python functions as tools: the docstring describes them, the annotations their arguments."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_json

from fourtier.runtime.validation import in_words
from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, ToolError
from fourtier.tools.declaration import declaration_of

_BY_NAME = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


class FunctionTool:
    """One function. A synchronous one runs in a thread.

    Args:
        function: all its parameters have annotations and can be given by name.
        name: how the model calls it, unless `@tool` gives another name.

    Raises:
        TypeError: a parameter has no annotation, or cannot be given by name.
    """

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        declaration = declaration_of(function, name)
        hints = get_type_hints(function, include_extras=True)
        self._function = function
        self._contexts = [each for each, hint in hints.items() if hint is RunContext]
        self._arguments = _arguments_of(function, hints)
        self.idempotent = declaration.idempotent
        self.groups = declaration.groups
        self.spec = ToolSpec(
            name=declaration.name,
            description=inspect.getdoc(function) or "",
            parameters=self._arguments.model_json_schema(),
        )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """Check the arguments and call the function; its result as text, or as JSON.

        Raises:
            ToolError: the arguments are wrong, or the function raised it.
        """
        try:
            checked = self._arguments.model_validate(arguments)
        except ValidationError as error:
            wrong = in_words(error, "arguments")
            raise ToolError(f"wrong arguments: {wrong}") from error
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        values |= dict.fromkeys(self._contexts, context)
        if inspect.iscoroutinefunction(self._function):
            result = await self._function(**values)
        else:
            result = await asyncio.to_thread(self._function, **values)
        return result if isinstance(result, str) else to_json(result, fallback=str).decode()


def _arguments_of(function: Callable[..., Any], hints: dict[str, Any]) -> type[BaseModel]:
    """A model of the parameters that the model fills in.

    Raises:
        TypeError: a parameter has no annotation, or cannot be given by name.
    """
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _BY_NAME or name not in hints:
            raise TypeError(f"parameter {name!r} needs an annotation and must be given by name")
        if hints[name] is RunContext:
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
