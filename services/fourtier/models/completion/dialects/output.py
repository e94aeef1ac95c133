"""Requests with an output schema: one answer that is JSON, the same in both dialects."""

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from fourtier.models.completion.dialects.contract import answer, no_step
from fourtier.models.completion.dialects.json_reply import JsonReply, find_json, is_whole
from fourtier.models.completion.dialects.transcript import Acted, Said, joined, with_system
from fourtier.models.completion.errors import ModelCutOffError, ModelMalformedError
from fourtier.models.completion.wire import (
    Delta,
    NamedSchema,
    Prompt,
    PromptMessage,
    ResponseFormat,
)
from fourtier.models.text.prompts import read_prompt
from fourtier.schema.completion import CompletionPiece
from fourtier.schema.message import Metadata

_PACKAGE = "fourtier.models.completion"

#: How an endpoint is asked for JSON: by a schema, as any object, or in the prompt alone.
JsonMode = Literal["schema", "object", "text"]


def response_format(name: str, schema: Metadata, json_mode: JsonMode) -> ResponseFormat | None:
    """Ask for JSON: of a schema where the endpoint takes one, of any kind where not.

    `strict` is left out on purpose: with it OpenAI rejects every schema that has a default or an
    optional field; servers that sample by a grammar enforce the schema either way.
    """
    if json_mode == "text":
        return None
    if json_mode == "object":
        return ResponseFormat(type="json_object")
    return ResponseFormat(
        type="json_schema", json_schema=NamedSchema(name=name, json_schema=schema)
    )


def plain_messages(turns: Sequence[Said | Acted]) -> tuple[PromptMessage, ...]:
    """Turns as text alone: an earlier action as the JSON of a step, its result as the user's."""
    said: list[Said | Acted] = []
    for turn in turns:
        said += _in_words(turn) if isinstance(turn, Acted) else (turn,)
    return tuple(
        PromptMessage(role=turn.role, content=turn.content)
        for turn in joined(said)
        if isinstance(turn, Said)
    )


def output_prompt(turns: Sequence[Said | Acted], schema: Metadata, json_mode: JsonMode) -> Prompt:
    """Ask for one JSON value; without JSON schemas the prompt contains the schema."""
    if json_mode != "schema":
        instruction = read_prompt(_PACKAGE, "object").replace(
            "{schema}", json.dumps(schema, ensure_ascii=False)
        )
        turns = with_system(turns, instruction)
    return Prompt(
        messages=plain_messages(turns),
        response_format=response_format("output", schema, json_mode),
    )


class OutputReader:
    """Passes the JSON on as one answer, and the thoughts before it as they come."""

    def __init__(self) -> None:
        self._reply = JsonReply()

    @property
    def whole(self) -> bool:
        """Whether the JSON is complete."""
        return is_whole(self._reply.text)

    def take(self, delta: Delta) -> Iterator[CompletionPiece]:
        """The thoughts; and an empty piece where the JSON is coming, for callers that wait."""
        yield from self._reply.take(delta)
        if delta.content:
            yield answer("")

    def finish(self, reason: str) -> Iterator[CompletionPiece]:
        """The JSON, if it is complete, so that no caller works with half of it."""
        yield from self._reply.finish()
        text = self._reply.text
        if not text.strip():
            raise no_step(reason)
        if (found := find_json(text)) is not None:
            yield answer(found)
        elif reason == "length":
            raise ModelCutOffError("the JSON was cut off at the limit of tokens: raise max-tokens")
        else:
            raise ModelMalformedError(f"the model wrote what is not JSON: {text[:300]!r}")


def _in_words(turn: Acted) -> tuple[Said, Said]:
    thinking = {"thought": turn.thought} if turn.thought else {}
    step = thinking | {"action": turn.tool, "arguments": turn.arguments}
    return (
        Said("assistant", json.dumps(step, ensure_ascii=False)),
        Said("user", f"Result of {turn.tool}:\n{turn.result}"),
    )
