"""Method `llm`: the common half of the ways to ask a model what is worth storing."""

from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel

from fourtier.models.text.prompts import Prompts, read_prompt
from fourtier.models.text.quoting import plain
from fourtier.models.text.structured import StructuredModel
from fourtier.runtime.rpc.caller import Caller

T = TypeVar("T", bound=BaseModel)

#: Seconds that one completion may take, and that a handler has besides; the handlers' time limits
#: are made of them.
COMPLETION_SECONDS, HANDLER_SECONDS = 300.0, 60.0

#: How often a model is asked until its answer has the form.
_ATTEMPTS = 3


class ModelMethod:
    """Base of a method that asks a model. Its answer has a schema; another one is an error.

    Args:
        prompts: the package whose folder `prompts` has the instructions.
        max_statements: how many facts one message may give.
        instead: what the flow has instead of some of the instructions, by their names.
    """

    def __init__(
        self,
        caller: Caller,
        prompts: str,
        max_statements: int,
        instead: Prompts = MappingProxyType({}),
    ) -> None:
        self.caller = caller
        self.max_statements = max_statements
        self._prompts = prompts
        self._instead = instead
        self._model = StructuredModel(caller, _ATTEMPTS)

    def prompt(self, name: str) -> str:
        """The instructions of that name.

        Raises:
            StartupError: the flow names a file that cannot be read, or is empty.
        """
        return read_prompt(self._prompts, name, self._instead.get(name))

    async def ask(self, instructions: str, material: str, form: type[T]) -> T:
        """One completion, read as `form`; an answer that is not one is corrected by the model.

        Raises:
            BadOutputError: no answer is JSON of that form.
            CallFailedError, DeadlineExceededError: the model cannot be used.
        """
        return await self._model.ask(instructions, plain(material), form)
