"""Asking a model for an answer of a given form."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fourtier.memory.statements.learned import output_schema
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.validation import in_words
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest

T = TypeVar("T", bound=BaseModel)


class BadOutputError(FourtierError):
    """A model's answer has not the form that was asked for; another attempt may bring it."""

    type = "bad-output"


async def ask(caller: Caller, instructions: str, material: str, form: type[T]) -> T:
    """One completion, read as `form`.

    Raises:
        BadOutputError: the answer is no JSON, or has not that form.
        CallFailedError, DeadlineExceededError: the model cannot be used.
    """
    request = CompleteRequest(
        messages=(
            ChatMessage(role="system", content=instructions),
            ChatMessage(role="user", content=material),
        ),
        output_schema=output_schema(form),
        temperature=0,
    )
    pieces = [
        piece.content async for piece in caller.stream(COMPLETE, request) if piece.type == "answer"
    ]
    try:
        return form.model_validate_json("".join(pieces))
    except ValidationError as error:
        wrong = in_words(error, "answer")
        raise BadOutputError(f"the model's answer is no {form.__name__}: {wrong}") from error
