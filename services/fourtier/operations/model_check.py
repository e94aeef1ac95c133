"""Asks the model what a flow asks of it, to see whether it can do that."""

import asyncio
from collections.abc import Collection, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from fourtier.models.completion.named_model import names_endpoint
from fourtier.models.text.structured import StructuredModel
from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.settings import Settings
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest, ToolSpec

_QUESTION = "Say yes."
_INSTRUCTIONS = 'Reply with a JSON object: {"answer": "yes"}'
_TOOL = ToolSpec(
    name="clock",
    description="Tells the time; say yes without it.",
    parameters={"type": "object", "properties": {}},
)
#: How often a model is asked for an answer of a form, as by those that learn.
_ATTEMPTS = 3


class _Form(BaseModel):
    answer: str


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What is wrong with a model; empty where it did what it was asked.

    Attributes:
        step: of a step, as the agent asks for it: an answer or a tool call.
        output: of an answer with a JSON schema, as those that learn ask for it.
    """

    step: str = ""
    output: str = ""


async def ask_step(caller: Caller) -> str:
    """Ask for a step with a tool, and return the model's name.

    Raises:
        CallFailedError, DeadlineExceededError: the model gives none.
    """
    request = CompleteRequest(
        messages=(ChatMessage(role="user", content=_QUESTION),), tools=(_TOOL,)
    )
    model = ""
    async with aclosing(caller.stream(COMPLETE, request)) as pieces:
        async for piece in pieces:
            model = piece.model or model
    return model


async def ask_output(caller: Caller) -> None:
    """Ask for an answer with a JSON schema.

    Raises:
        BadOutputError: the model does not write JSON of the schema.
        CallFailedError, DeadlineExceededError: the model cannot be used.
    """
    await StructuredModel(caller, _ATTEMPTS).ask(_INSTRUCTIONS, _QUESTION, _Form)


async def check_named_model(
    bus: Bus, services: Collection[str], settings: Settings, within: float
) -> ModelCheck | None:
    """Ask the model that the environment names for both at once.

    Returns:
        None where there is no such model among the services, or it takes longer than `within`
        seconds.
    """
    if "completion" not in services or not names_endpoint(settings):
        return None
    async with open_caller(bus) as caller:
        return await _check(caller, within)


async def _check(caller: Caller, within: float) -> ModelCheck | None:
    try:
        async with asyncio.timeout(within):
            step, output = await asyncio.gather(
                _problem(ask_step(caller)), _problem(ask_output(caller))
            )
    except TimeoutError:
        return None
    return ModelCheck(step, output)


def learns_by_model(services: Mapping[str, Mapping[str, Any] | None]) -> bool:
    """Whether some service of a flow asks a model to learn, where one is named."""
    learners = [services[name] or {} for name in ("extraction", "promotion") if name in services]
    return any(each.get("method", "auto") != "statements" for each in learners)


async def _problem(asking: Coroutine[Any, Any, object]) -> str:
    try:
        await asking
    except (FourtierError, BusError) as error:
        return str(error).rstrip(".")
    return ""
