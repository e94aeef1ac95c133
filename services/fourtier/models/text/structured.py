"""Completions whose answer has a schema: JSON that is read as a pydantic model, or an error.

`completion` has the model's server keep to the schema where that can; an answer that is none all
the same is given back to the model, with what is wrong with it.
"""

import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fourtier.models.completion.errors import ModelCutOffError, ModelMalformedError
from fourtier.runtime.errors import CallFailedError, FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.validation import in_words
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

#: Errors of `completion` for an answer that cannot be read; another attempt may bring a better one.
_UNREADABLE = frozenset({ModelMalformedError.type, ModelCutOffError.type})
#: Characters of an answer, and of what is wrong with it, that the model is shown again.
_MAX_SHOWN = 2_000


class BadOutputError(FourtierError):
    """A model's answers have not the form that was asked for, however often it was asked."""

    type = "bad-output"


@dataclass
class Usage:
    """What completions took so far; one that failed counts, too.

    Attributes:
        model: the name of the one that answered last.
    """

    completions: int = 0
    in_token: int = 0
    out_token: int = 0
    model: str = ""


class StructuredModel:
    """Asks a model for answers of a form.

    Args:
        attempts: how often it is asked until an answer has the form.
        usage: what the completions take is added to it.
    """

    def __init__(self, caller: Caller, attempts: int, usage: Usage | None = None) -> None:
        self._caller = caller
        self._attempts = attempts
        self._usage = usage or Usage()

    async def ask(
        self, instructions: str, material: str, form: type[T], *, attempts: int | None = None
    ) -> T:
        """One completion, read as `form`; an answer that is not one is corrected by the model.

        Raises:
            BadOutputError: no answer is JSON of that form.
            CallFailedError, DeadlineExceededError: the model cannot be used.
        """
        asked = [
            ChatMessage(role="system", content=instructions),
            ChatMessage(role="user", content=material),
        ]
        messages, wrong = asked, ""
        for _ in range(self._attempts if attempts is None else attempts):
            answer = ""
            try:
                answer = await self._complete(messages, form)
                return form.model_validate_json(answer)
            except ValidationError as error:
                wrong = in_words(error, "answer")
            except CallFailedError as error:
                if error.type not in _UNREADABLE:
                    raise
                wrong = error.message
            log.info("The model's answer is not a %s: %s", form.__name__, wrong)
            messages = [*asked, *_correction(answer, wrong)]
        raise BadOutputError(f"the model's answer is not a {form.__name__}: {wrong}")

    async def _complete(self, messages: Sequence[ChatMessage], form: type[BaseModel]) -> str:
        request = CompleteRequest(
            messages=tuple(messages),
            output_schema=output_schema(form),
            streaming=False,
            temperature=0,
        )
        self._usage.completions += 1
        answer: list[str] = []
        async with aclosing(self._caller.stream(COMPLETE, request)) as pieces:
            async for piece in pieces:
                if piece.type == "answer":
                    answer.append(piece.content)
                self._usage.in_token += piece.in_token
                self._usage.out_token += piece.out_token
                self._usage.model = piece.model or self._usage.model
        return "".join(answer)


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model as strict endpoints want it: all fields required, none besides."""
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])
    return schema


def _correction(answer: str, wrong: str) -> list[ChatMessage]:
    """What the model is told after an answer that cannot be used."""
    correction = f"That cannot be used: {wrong[:_MAX_SHOWN]}. Answer again, in the form asked for."
    said = [ChatMessage(role="assistant", content=answer[:_MAX_SHOWN])] if answer else []
    return [*said, ChatMessage(role="user", content=correction)]
