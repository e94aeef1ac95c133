"""Any service that answers on a topic, as a tool: arguments out as JSON, the answer in as JSON."""

from pydantic import ConfigDict, Field

from fourtier.runtime.service.context import Parameters
from fourtier.schema.completion import ToolSpec
from fourtier.schema.message import Message, Metadata
from fourtier.schema.topics import Call, Topic
from fourtier.tools.contract import RunContext

#: Less than the time limit of a run without a reply, so that the tool fails and not the run.
MAX_TOOL_SECONDS = 540.0


class AnyMessage(Message):
    """A JSON object with the fields that the tool's service defines."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


class TopicToolParameters(Parameters):
    """A tool in the flow file.

    With `persistent` the broker keeps the question until it is handled.
    """

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    description: str
    topic: str
    parameters: Metadata = Field(default={"type": "object", "properties": {}})
    idempotent: bool = False
    persistent: bool = True
    seconds: float = Field(default=30.0, gt=0, le=MAX_TOOL_SECONDS)
    groups: tuple[str, ...] = ()


class TopicTool:
    """Asks on the topic and returns the answer."""

    def __init__(self, described: TopicToolParameters) -> None:
        self.spec = ToolSpec(
            name=described.name,
            description=described.description,
            parameters=described.parameters,
        )
        self.idempotent = described.idempotent
        self.groups = described.groups
        self._call = Call(
            Topic(described.topic, AnyMessage, persistent=described.persistent),
            AnyMessage,
            deadline=described.seconds,
        )

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """The answer, as JSON."""
        answer = await context.caller.call(self._call, AnyMessage.model_validate(arguments))
        return answer.model_dump_json()
