"""Which parameter of a request an endpoint rejects, by the text of its error.

Endpoints of one API differ in what they take, and say so by an error alone. OpenAI names the
parameter in the field `param`; others name it somewhere in the message.
"""

import re

from pydantic import BaseModel, ConfigDict, ValidationError

from fourtier.models.completion.wire import ChatRequest

#: What a request can do without, and how a message names it, `-` and `_` read as spaces.
_NAMES = {
    "parallel_tool_calls": r"parallel tool calls",
    "tools": r"tools?\b|function calling",
    "response_format": r"response format|json (?:schema|object|mode)",
    "stream_options": r"stream options",
    "stream": r"stream(?:ing)?\b",
    "temperature": r"temperature",
    "max_tokens": r"max tokens",
    "max_completion_tokens": r"max completion tokens",
}


class _Named(BaseModel):
    model_config = ConfigDict(extra="ignore")

    param: str | None = None


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")

    error: _Named = _Named()


def rejected_parameter(request: ChatRequest, body: str, message: str) -> str | None:
    """The parameter that an endpoint rejects; None where its error is about something else.

    Args:
        request: what was sent; what it has not is not rejected.
        body: of the error.
        message: of the error, or the body again where it has none.

    Returns:
        Its name, or `json_schema` or `json_object` for the type of the response format.
    """
    name = _param(body) or _first_named(message, _sent(request))
    if name not in _sent(request):
        return None
    if name == "response_format" and request.response_format is not None:
        return request.response_format.type
    return name


def _param(body: str) -> str:
    """The root of the field `param`, as `tools` of `tools[0].function`; empty without one."""
    try:
        param = _Body.model_validate_json(body).error.param or ""
    except ValidationError:
        return ""
    return re.split(r"[.\[]", param, maxsplit=1)[0]


def _first_named(message: str, sent: set[str]) -> str:
    """What the message names first; of two at one place the longer name."""
    text = re.sub(r"[_-]", " ", message.lower())
    found = {name: re.search(rf"\b(?:{_NAMES[name]})", text) for name in sent}
    places = [(each.start(), -each.end(), name) for name, each in found.items() if each]
    return min(places)[2] if places else ""


def _sent(request: ChatRequest) -> set[str]:
    """What the request has of the parameters that it can do without."""
    sent = {name for name in _NAMES if getattr(request, name)}
    sent |= {"temperature"} if request.temperature is not None else set()
    sent |= {"parallel_tool_calls"} if request.parallel_tool_calls is not None else set()
    return sent | {"tools" for message in request.messages if message.tool_calls}
