"""Method `llm`: the common half of the ways to ask a model what is worth storing."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fourtier.memory.learning.model_output import output_schema
from fourtier.models.text.prompts import read_prompt
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.validation import in_words
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest

T = TypeVar("T", bound=BaseModel)

#: Seconds that one completion may take; the handlers' time limits are made of it.
COMPLETION_SECONDS = 300.0


class BadOutputError(FourtierError):
    """A model's answer has not the form that was asked for; another attempt may bring it."""

    type = "bad-output"


class ModelMethod:
    """Base of a method that asks a model. Its answer has a schema; another one is an error.

    Args:
        prompts: the package whose folder `prompts` has the instructions.
        max_statements: how many facts one message may give.
    """

    def __init__(self, caller: Caller, prompts: str, max_statements: int) -> None:
        self.caller = caller
        self.max_statements = max_statements
        self._prompts = prompts

    def prompt(self, name: str) -> str:
        """The instructions of that name."""
        return read_prompt(self._prompts, name)

    async def ask(self, instructions: str, material: str, form: type[T]) -> T:
        """One completion, read as `form`.

        Raises:
            BadOutputError: the answer is not JSON, or has not that form.
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
            piece.content
            async for piece in self.caller.stream(COMPLETE, request)
            if piece.type == "answer"
        ]
        try:
            return form.model_validate_json("".join(pieces))
        except ValidationError as error:
            wrong = in_words(error, "answer")
            raise BadOutputError(f"the model's answer is not a {form.__name__}: {wrong}") from error
