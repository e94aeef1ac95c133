"""Which dialect a request gets: by the flow's parameters, and by what the endpoint rejects."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from fourtier.models.completion.dialects.contract import Dialect
from fourtier.models.completion.dialects.output import JsonMode
from fourtier.models.completion.dialects.schema import SchemaDialect
from fourtier.models.completion.dialects.tools import ToolsDialect
from fourtier.schema.completion import CompleteRequest


@dataclass(frozen=True, slots=True)
class Dialects:
    """The dialects of one model.

    Attributes:
        tools: whether the API's own tool calls are used.
        json_mode: how JSON is asked for.
        small, brief: see `SchemaDialect`.
    """

    tools: bool = True
    json_mode: JsonMode = "schema"
    small: bool = False
    brief: bool = False

    def choose(self, request: CompleteRequest, rejected: AbstractSet[str] = frozenset()) -> Dialect:
        """The dialect of a request, without what the endpoint rejects; see `rejected_parameter`.

        Without tool calls a step is JSON; a request without any tool needs no step.
        """
        json_mode = self._json_mode(rejected)
        acts = request.tools or any(message.tool_calls for message in request.messages)
        if self.tools and not (acts and "tools" in rejected):
            return ToolsDialect(json_mode=json_mode)
        return SchemaDialect(json_mode=json_mode, small=self.small, brief=self.brief)

    def _json_mode(self, rejected: AbstractSet[str]) -> JsonMode:
        if self.json_mode == "schema" and "json_schema" not in rejected:
            return "schema"
        return "text" if "json_object" in rejected else "object"
