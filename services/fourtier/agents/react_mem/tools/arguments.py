"""Reading the arguments of memory's own tools."""

from fourtier.schema.message import Metadata
from fourtier.tools.contract import ToolError

#: Characters of a fact or a search query.
_MAX_TEXT = 8_000


def one_text(name: str, description: str) -> Metadata:
    """The JSON schema of a tool that takes one text."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }


def text_argument(arguments: Metadata, name: str) -> str:
    """A text among the arguments.

    Raises:
        ToolError: there is none of that name, or it has not the length of one.
    """
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_TEXT:
        raise ToolError(f"wrong arguments: {name} must be a text of 1 to {_MAX_TEXT} characters")
    return value.strip()
