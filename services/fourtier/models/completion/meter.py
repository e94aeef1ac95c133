"""Counts what a reply costs while it streams."""

import json
from dataclasses import dataclass, field

from fourtier.models.completion.errors import ModelCutOffError
from fourtier.models.completion.wire import Chunk, Prompt, Usage
from fourtier.models.text.tokens import count_tokens

#: Characters that are read of one reply: a model that does not come to an end is stopped here.
MAX_REPLY = 200_000


@dataclass
class Meter:
    """What a reply has cost so far.

    Where an endpoint sends no counts, or is cut off before it does, they are estimated from the
    JSON of the prompt's messages and tools and from the text that came back. If no text came back,
    nothing is counted.
    """

    prompt: Prompt
    model: str
    reason: str = ""
    usage: Usage | None = None
    text: list[str] = field(default_factory=list[str])
    characters: int = 0

    def take(self, chunk: Chunk) -> None:
        """Add a chunk.

        Raises:
            ModelCutOffError: the reply is longer than `MAX_REPLY`.
        """
        self.model = chunk.model or self.model
        self.usage = chunk.usage or self.usage
        for choice in chunk.choices[:1]:
            self.text.append(choice.piece.text)
            self.characters += len(choice.piece.text)
            self.reason = choice.finish_reason or self.reason
        if self.characters > MAX_REPLY:
            raise ModelCutOffError(
                f"the reply has more than {MAX_REPLY} characters: lower max-tokens"
            )

    @property
    def cost(self) -> Usage:
        """Tokens of prompt and completion."""
        if self.usage is not None and self.usage.prompt_tokens:
            return self.usage
        if not self.text:
            return Usage()
        asked = self.prompt.model_dump(mode="json", include={"messages", "tools"})
        return Usage(
            prompt_tokens=count_tokens(json.dumps(asked, ensure_ascii=False)),
            completion_tokens=count_tokens("".join(self.text)),
        )
