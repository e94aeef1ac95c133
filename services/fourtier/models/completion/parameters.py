"""What a flow sets for `completion`."""

from typing import Literal

from pydantic import Field

from fourtier.runtime.service.context import Parameters


class CompletionParameters(Parameters):
    """The endpoint and its key are not among the parameters: they come from the environment.

    Attributes:
        model: its name at the endpoint; OPENAI_MODEL overrides it.
        dialect: `auto` is `tools` for an endpoint, and a brief form of `schema` for the bundled
            model, which cannot choose a tool; `schema` offers tools to that one too.
        json_mode: `object` for an endpoint that takes JSON schemas and does not keep to them; one
            that rejects them is noticed.
        timeout: seconds that may pass between two parts of a reply. Its first part may take as long
            as the caller waits.
        attempts: how often it is asked. A caller waits five minutes for the first piece; no attempt
            begins after that.
        max_tokens: of one reply; None leaves it to the endpoint, and is 256 for the bundled model.
            A reply of more than 200,000 characters is an error in any case.
        temperature: None leaves it to the endpoint, and is 0 for the bundled model.
        tokens_per_day: cap for the flow; None for no cap.
        context_window: tokens of the bundled model; an endpoint has its own and rejects more.
        max_concurrency: completions at a time; None is 8, and 1 for the bundled model.
    """

    model: str | None = None
    dialect: Literal["auto", "tools", "schema"] = "auto"
    json_mode: Literal["schema", "object"] = "schema"
    timeout: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=4, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0)
    tokens_per_day: int | None = Field(default=None, ge=0)
    context_window: int = Field(default=4_096, ge=512)
    max_concurrency: int | None = Field(default=None, ge=1)
