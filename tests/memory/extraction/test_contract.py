"""Extraction by rule and by a model, behind one contract."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.memory.extraction.contract import (
    DOG,
    HOME,
    LAST,
    PAID,
    WORK,
    ExtractionContract,
)
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import ModelRequest, Reply, Writes, scripted_model

_LEARNED = {
    HOME: "Ann lives in Oslo.",
    DOG: "Ann's dog is called Rex.",
    WORK: "Ann works at the harbour.",
    LAST: "Ann is the last one.",
    "My password is hunter2.": "Ann's password is hunter2.",
    "Where do I live?": "Ann lives in Oslo.",
}


def _fact(content: str, quote: str, **other: Any) -> dict[str, Any]:
    known = {"kind": "semantic", "subject": "Ann", "attribute": "", "one_value": False}
    return known | {"content": content, "quote": quote, "replaces": []} | other


def careless(request: ModelRequest) -> Reply:
    """A model that writes down whatever it is shown, the last first.

    Questions, secrets and the assistant's words are among it.
    """
    said = request.last.split("said:\n")[1].split("\n\n")[0]
    spoken = sorted((said.find(quote), quote) for quote in _LEARNED if quote in said)
    facts = [_fact(_LEARNED[quote], quote) for _, quote in spoken[::-1]]
    if "Bello" in request.last:
        facts.append(_fact("Ann has a dog called Bello.", HOME))
        facts.append(_fact("Ann has a dog called Bello.", "your dog Bello"))
    found = re.findall(r"\[(\d+)\] (\w+): (.*)", request.last)
    by_tools = [
        _fact("The invoice 4711 was paid on Monday.", PAID, step=int(number))
        for number, _, result in found
        if result == PAID
    ]
    return Writes({"facts": facts, "tool_facts": by_tools, "episode": None})


class TestByRule(ExtractionContract):
    """Method `statements`, which is what a flow has that names no model."""

    @asynccontextmanager
    async def flow(
        self, path: Path, services: dict[str, Any], parameters: dict[str, Any]
    ) -> AsyncGenerator[RunningFlow]:
        async with running_flow(path, {**services, "extraction": parameters}) as flow:
            yield flow


class TestByModel(ExtractionContract):
    """Method `llm`, which is what a flow has that names a model."""

    @asynccontextmanager
    async def flow(
        self, path: Path, services: dict[str, Any], parameters: dict[str, Any]
    ) -> AsyncGenerator[RunningFlow]:
        known = {} if "facts" in services else {"candidates": 0}
        every = {**services, "completion": {}, "extraction": {**known, **parameters}}
        async with (
            scripted_model(script=careless) as model,
            running_flow(path, every, settings=model.settings) as flow,
        ):
            yield flow
            assert model.requests
