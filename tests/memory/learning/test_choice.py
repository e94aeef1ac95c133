"""A flow learns by the model that is named, and by rule where none is; it says which."""

import logging
from pathlib import Path
from typing import Any

import pytest

from fourtier.flows.model import read_flow
from fourtier.flows.parameters import parameters_of
from fourtier.memory.extraction.service import ExtractionParameters
from fourtier.memory.learning.choice import asks_model
from fourtier.memory.promotion.service import PromotionParameters
from fourtier.runtime.settings import Settings
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.facts import STORE_FACT
from tests.memory.extraction.runs import run
from tests.memory.extraction.test_extraction_model import fact
from tests.memory.promotion.test_promotion_model import talk
from tests.support.flow import running_flow
from tests.support.listening import listening
from tests.support.model import Fails, ModelRequest, Reply, Writes, scripted_model

UNNAMED: dict[str, Any] = {"model_url": None, "model_key": None, "model_name": None}
SERVICES: dict[str, dict[str, Any]] = {
    "completion": {},
    "conversations": {},
    "extraction": {"candidates": 0},
    "promotion": {"candidates": 0},
}
SINGS = {"content": "Ann is a singer.", "quote": "I sing."}
EXTRACTED = Writes({"facts": [fact(**SINGS)]})
PROMOTED = Writes({"facts": [fact(**SINGS, line=1)], "episode": None})


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ({}, False),
        ({"model_name": "half-named"}, False),
        ({"model_url": "http://127.0.0.1:1/v1", "model_name": "m"}, True),
        ({"model_key": "sk-x", "model_name": "m"}, True),
        ({"model_key": "sk-x"}, True),  # the flow may name the model
        ({"model_url": "", "model_key": ""}, False),
    ],
)
def test_auto_asks_the_model_where_an_endpoint_is_named(
    named: dict[str, str], *, asked: bool
) -> None:
    settings = Settings(**UNNAMED | named)

    assert asks_model("auto", settings) is asked
    assert asks_model("llm", settings)
    assert not asks_model("statements", settings)


@pytest.mark.parametrize("flow", ["laptop", "cluster"])
def test_no_flow_of_ours_keeps_a_named_model_from_learning(flow: str) -> None:
    settings = Settings(model_url="http://127.0.0.1:1/v1", model_name="m")
    for service in ("extraction", "promotion"):
        parameters = parameters_of(read_flow(flow), service)
        assert isinstance(parameters, ExtractionParameters | PromotionParameters)
        assert asks_model(parameters.method, settings)


async def test_a_named_model_extracts_and_promotes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with (
        scripted_model(EXTRACTED, PROMOTED) as model,
        running_flow(tmp_path, SERVICES, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing."))
        assert (await facts.next()).content == "Ann is a singer."
        await talk(flow, "I sing.", conversation="c2")
        assert (await facts.next()).source == "c2"

    assert len(model.requests) == 2
    for service in ("extraction", "promotion"):
        assert f"{service} learns by the model scripted" in caplog.text


def takes_nothing(request: ModelRequest) -> Reply:
    """An endpoint without temperature and JSON modes."""
    for name in ("temperature", "response_format"):
        if name in request.json:
            return Fails(400, f"{name} is not supported")
    return EXTRACTED


async def test_an_endpoint_that_rejects_parameters_learns_too(tmp_path: Path) -> None:
    services = {name: SERVICES[name] for name in ("completion", "extraction")}
    async with (
        scripted_model(script=takes_nothing) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing."))
        assert (await facts.next()).content == "Ann is a singer."  # the rule has another


async def test_with_the_bundled_model_alone_rules_extract_and_promote(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    # Without `completion`, whoever asks a model waits for ever.
    services = {name: SERVICES[name] for name in ("conversations", "extraction", "promotion")}
    async with (
        running_flow(tmp_path, services) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing in Oslo."))
        assert (await facts.next()).content == "I sing in Oslo."
        await talk(flow, "I sing in Rome.", conversation="c2")
        while (await facts.next()).source != "c2":
            pass
        assert facts.received[-1].content == "I sing in Rome."

    for service in ("extraction", "promotion"):
        assert f"{service} learns by rule: no model is asked; to learn more" in caplog.text


async def test_a_flow_that_says_statements_asks_no_model(tmp_path: Path) -> None:
    services: dict[str, dict[str, Any]] = {
        "completion": {},
        "extraction": {"method": "statements"},
    }
    async with (
        scripted_model(EXTRACTED) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing in Oslo."))
        assert (await facts.next()).content == "I sing in Oslo."

    assert model.requests == []
