"""The decorator `@tool`: what the signature of a function cannot say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

_ATTRIBUTE = "__fourtier_tool__"

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """What is known of a function as a tool, besides its signature and docstring."""

    name: str
    idempotent: bool = True
    groups: Sequence[str] = ()


def tool(
    *, name: str = "", idempotent: bool = True, groups: Sequence[str] = ()
) -> Callable[[F], F]:
    """Declare a function as a tool; the function itself stays as it is.

    A function without this decorator is an idempotent tool of its own name.

    Args:
        name: how the model calls the tool; the function's name if empty.
        idempotent: whether calling it twice has the same effect as calling it once. A tool that is
            not idempotent is never called again after a crash in the middle of it; the model is
            told that its effect is unknown.
        groups: a request that names groups is offered only the tools of one of them.
    """

    def declare(function: F) -> F:
        declaration = ToolDeclaration(name or function.__name__, idempotent, tuple(groups))
        setattr(function, _ATTRIBUTE, declaration)
        return function

    return declare


def declaration_of(function: Callable[..., Any], name: str = "") -> ToolDeclaration:
    """What `@tool` declares of a function; without it an idempotent tool of the given name."""
    default = ToolDeclaration(name or function.__name__)
    declaration: ToolDeclaration = getattr(function, _ATTRIBUTE, default)
    return declaration
