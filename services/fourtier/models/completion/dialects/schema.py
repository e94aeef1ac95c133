"""Dialect `schema`: a step as JSON of a schema that the server enforces, read while it streams.

For models and servers without tool calls. A step is `{"thought", "answer"}` or `{"thought",
"action", "arguments"}`; the schema has a branch for each tool, with the tool's own arguments.

The bundled model of 135M parameters gets the brief form: one sentence as `{"answer"}`, no tools,
the instruction at the end of the last message. Measured with it: a thought before the answer is
repeated as the answer or runs in circles until it is cut off; offered tools it picks one at random,
an arithmetic question goes to the episodes; an instruction in the system message is ignored, and an
example there comes back as the answer. In the brief form it finds 20 of 24 facts in its context, in
30 tokens on average.
"""

import json
import logging
from collections.abc import Iterator, Mapping

from pydantic import JsonValue, TypeAdapter
from pydantic_core import from_json

from fourtier.models.completion.dialects.arguments import given_arguments
from fourtier.models.completion.dialects.contract import Reader, answer, no_step, thought
from fourtier.models.completion.dialects.json_reply import (
    JsonReply,
    find_json,
    is_whole,
    read_partly,
)
from fourtier.models.completion.dialects.output import (
    JsonMode,
    OutputReader,
    output_prompt,
    plain_messages,
    response_format,
)
from fourtier.models.completion.dialects.step_schema import sentence_schema, step_schema
from fourtier.models.completion.dialects.transcript import Said, read_transcript, with_system
from fourtier.models.completion.errors import ModelMalformedError
from fourtier.models.completion.wire import Delta, Prompt
from fourtier.models.text.prompts import read_prompt
from fourtier.schema.completion import CompleteRequest, CompletionPiece, ToolSpec

log = logging.getLogger(__name__)

_PACKAGE = "fourtier.models.completion"

#: Name of the schema of a step.
STEP = "step"
#: Characters of a small model's texts; it seldom finds an end of its own.
_SMALL_TEXT = 200

_object = TypeAdapter(dict[str, JsonValue])


class SchemaDialect:
    """A step as JSON.

    Args:
        json_mode: whether the endpoint enforces a schema; the prompt describes a step anyway.
        small: the model runs in circles unless every text is bounded.
        brief: ask for an answer alone.
    """

    def __init__(
        self, *, json_mode: JsonMode = "schema", small: bool = False, brief: bool = False
    ) -> None:
        self._json_mode: JsonMode = json_mode
        self._small = small
        self._brief = brief

    def prompt(self, request: CompleteRequest) -> Prompt:
        """Messages with an instruction, and the schema of a step."""
        turns = read_transcript(request.messages)
        if request.output_schema is not None:
            return output_prompt(turns, request.output_schema, self._json_mode)
        if self._brief:
            turns = [*turns, Said("user", read_prompt(_PACKAGE, "brief"))]
        elif request.tools:
            tools = "\n".join(map(_in_words, request.tools))
            turns = with_system(turns, read_prompt(_PACKAGE, "step").replace("{tools}", tools))
        else:
            turns = with_system(turns, read_prompt(_PACKAGE, "answer"))
        longest = _SMALL_TEXT if self._small else None
        schema = sentence_schema() if self._brief else step_schema(request.tools, longest=longest)
        return Prompt(
            messages=plain_messages(turns),
            response_format=response_format(STEP, schema, self._json_mode),
        )

    def reader(self, request: CompleteRequest) -> Reader:
        """Reads the JSON."""
        return OutputReader() if request.output_schema is not None else SchemaReader()


class SchemaReader:
    """Reads an incomplete step: thought and answer stream, an action is passed on whole."""

    def __init__(self) -> None:
        self._reply = JsonReply()
        self._passed_on = {"thought": 0, "answer": 0}

    @property
    def whole(self) -> bool:
        """Whether the JSON is complete."""
        return is_whole(self._reply.text)

    def take(self, delta: Delta) -> Iterator[CompletionPiece]:
        """What has come of the thought and of the answer."""
        yield from self._reply.take(delta)
        if delta.content:
            step = read_partly(self._reply.text)
            yield from self._news(step if isinstance(step, dict) else {})

    def finish(self, reason: str) -> Iterator[CompletionPiece]:
        """What was still open, and the action, if the step is one."""
        yield from self._reply.finish()
        text = self._reply.text
        if not text.strip():
            raise no_step(reason)
        cut_off = reason == "length" and not self.whole
        step = self._read(text, cut_off=cut_off)
        yield from self._news(step)
        action, arguments = step.get("action"), step.get("arguments")
        if isinstance(action, str) and not cut_off:
            yield CompletionPiece(type="action", tool=action, arguments=given_arguments(arguments))
        elif not self._passed_on["answer"]:
            raise no_step(reason)
        elif cut_off:
            log.warning("The answer was cut off at the limit of tokens; see max-tokens.")

    @staticmethod
    def _read(text: str, *, cut_off: bool) -> dict[str, JsonValue]:
        found = find_json(text)
        step = from_json(found) if found else read_partly(text) if cut_off else None
        if not isinstance(step, dict):
            raise ModelMalformedError(
                f"the model wrote {text[:300]!r}, which is not a JSON object; if its server "
                f"does not enforce JSON schemas, use the dialect `tools`"
            )
        return _object.validate_python(step)

    def _news(self, step: Mapping[str, JsonValue]) -> Iterator[CompletionPiece]:
        """What was not passed on yet of the thought and of the answer."""
        for name, piece in (("thought", thought), ("answer", answer)):
            text, begun = step.get(name), self._passed_on[name]
            if isinstance(text, str) and len(text) > begun:
                self._passed_on[name] = len(text)
                yield piece(text[begun:])


def _in_words(tool: ToolSpec) -> str:
    parameters = json.dumps(tool.parameters, ensure_ascii=False)
    return f"- {tool.name}: {tool.description} {parameters}"
