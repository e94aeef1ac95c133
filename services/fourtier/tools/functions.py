"""Python functions as tools: the docstring describes them, the annotations their arguments."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_json

from fourtier.runtime.errors import StartupError
from fourtier.runtime.validation import in_words
from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, ToolError

GROUP = "fourtier.tools"

_BY_NAME = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    idempotent: bool
    groups: Sequence[str]


def tool(
    *, name: str = "", idempotent: bool = True, groups: Sequence[str] = ()
) -> Callable[[F], F]:
    """Say of a function what its signature cannot.

    A function needs this only when it is not idempotent, belongs to groups or wants another name:

        @tool(idempotent=False, groups=["billing"])
        async def charge(customer: str, cents: int) -> str:
            "Charge a customer's card."
    """

    def declare(function: F) -> F:
        declared = _Declared(name or function.__name__, idempotent, tuple(groups))
        function.__dict__["fourtier_tool"] = declared
        return function

    return declare


class FunctionTool:
    """One function. A synchronous one runs in a thread."""

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        plain = _Declared(name or function.__name__, idempotent=True, groups=())
        declared: _Declared = getattr(function, "fourtier_tool", plain)
        self._function = function
        self._arguments = _arguments_of(function)
        self.idempotent = declared.idempotent
        self.groups = declared.groups
        self.spec = ToolSpec(
            name=declared.name,
            description=inspect.getdoc(function) or "",
            parameters=self._arguments.model_json_schema(),
        )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """Check the arguments, call the function, give its result as text or JSON."""
        del context  # a plain function knows nothing of the run
        try:
            checked = self._arguments.model_validate(arguments)
        except ValidationError as error:
            wrong = in_words(error, "arguments")
            raise ToolError(f"wrong arguments: {wrong}") from error
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        if inspect.iscoroutinefunction(self._function):
            result = await self._function(**values)
        else:
            result = await asyncio.to_thread(self._function, **values)
        return result if isinstance(result, str) else to_json(result, fallback=str).decode()


def _arguments_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A model of a function's parameters.

    Raises:
        TypeError: a parameter has no annotation, or cannot be given by name.
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _BY_NAME or name not in hints:
            raise TypeError(f"parameter {name!r} needs an annotation and must be given by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def installed_tools() -> list[FunctionTool]:
    """Functions that installed packages offer as entry points of group `fourtier.tools`.

    Raises:
        StartupError: one cannot be imported, or its arguments cannot be described.
    """
    found: list[FunctionTool] = []
    for entry in entry_points(group=GROUP):
        try:
            found.append(FunctionTool(entry.load(), entry.name))
        except Exception as error:
            raise StartupError(
                f"the tool {entry.name} ({entry.value}) cannot be used: {error}"
            ) from error
    return found
