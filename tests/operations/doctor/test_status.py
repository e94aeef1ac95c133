"""Every service reports its version and what its stores have, also when they do not answer."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.operations.doctor.findings import Finding
from fourtier.operations.doctor.services import ask_services
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import Caller, open_caller
from fourtier.runtime.service import Service, status
from fourtier.schema.message import Scope
from fourtier.schema.status import StatusRequest, StatusResponse, StoreCount, status_of
from tests.road.services import ROAD
from tests.runtime.rpc.support import served
from tests.support.flow import running_flow
from tests.support.model import (
    Fails,
    ModelRequest,
    Reply,
    Says,
    Script,
    Sends,
    Writes,
    scripted_model,
)

ANN = Scope("ann", "default")
HERE = version("fourtier")


class Plain(Service):
    """A service without stores."""

    name = "facts"


class Counting(Plain):
    """A service with a store that counts, hangs or fails."""

    def __init__(
        self, *counts: StoreCount, error: Exception | None = None, hangs: bool = False
    ) -> None:
        self._counts = counts
        self._error = error
        self._hangs = hangs

    async def store_counts(self) -> Sequence[StoreCount]:
        if self._hangs:
            await asyncio.Event().wait()
        if self._error:
            raise self._error
        return self._counts


@asynccontextmanager
async def asked(service: Plain, name: str = "facts") -> AsyncGenerator[Caller]:
    bus = MemoryBus()
    async with served(bus, status.status_route(name, service)), open_caller(bus) as caller:
        yield caller


async def status_from(service: Plain) -> StatusResponse:
    async with asked(service) as caller:
        return await caller.call(status_of("facts"), StatusRequest())


async def doctors(service: Plain, *replicas: str) -> list[Finding]:
    async with asked(service) as caller:
        return (await ask_services(caller, "shop", {"facts": {}}, {"facts": replicas})).findings


async def test_a_service_reports_its_version_and_store_counts() -> None:
    fact = StoreCount(store="graph", kind="facts", number=7)
    reported = await status_from(Counting(fact))
    assert (reported.version, reported.store_counts, reported.store_problem) == (HERE, (fact,), "")
    assert (await status_from(Plain())).store_counts == ()


async def test_a_store_that_fails_is_reported_with_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = await status_from(Counting(error=ConnectionRefusedError("nobody is there")))
    assert failed.store_problem == "nobody is there"
    assert (await status_from(Counting(error=ValueError()))).store_problem == "ValueError"
    monkeypatch.setattr(status, "_COUNT_TIMEOUT", 0.01)
    assert (
        "did not answer within 0.01 seconds"
        in (await status_from(Counting(hangs=True))).store_problem
    )


async def test_a_store_problem_has_a_remedy() -> None:
    answers, stores = await doctors(Counting(error=ConnectionRefusedError("nobody is there")))
    assert (answers.well, stores.well) == (True, False)
    assert stores.what == "stores of facts"
    assert "the log of facts" in stores.remedy


async def test_an_index_that_lacks_facts_is_reported() -> None:
    graph = StoreCount(store="graph", kind="facts", number=1_234)
    _, same = await doctors(
        Counting(graph, StoreCount(store="vectors", kind="facts", number=1_234))
    )
    _, less = await doctors(
        Counting(graph, StoreCount(store="vectors", kind="facts", number=1_000))
    )
    assert (same.found, same.remedy) == ("1,234 facts in the graph, 1,234 facts in the vectors", "")
    assert "fourtier facts reindex" in less.remedy


async def test_a_store_that_could_not_be_counted_does_not_count_as_reached() -> None:
    async with asked(Counting(error=ConnectionRefusedError("nobody is there"))) as caller:
        assert (await ask_services(caller, "shop", {"facts": {}}, {})).stores == set()


@pytest.mark.parametrize(
    ("replicas", "said", "mixed"),
    [
        ((), f"version {HERE}, up", False),
        ((HERE, HERE), f"version {HERE}, 2 replicas, up", False),
        ((HERE, "0.0.1", HERE), f"replicas: 1 of 0.0.1, 2 of {HERE}, up", True),
        (("", HERE), f"replicas: 1 of ?, 1 of {HERE}, up", True),
        (("0.0.1",), "version 0.0.1, up", True),
    ],
)
async def test_replicas_of_two_versions_are_reported(
    replicas: tuple[str, ...], said: str, *, mixed: bool
) -> None:
    (finding,) = await doctors(Plain(), *replicas)
    assert said in finding.found
    assert ("finish the roll-out" in finding.remedy) is mixed
    assert finding.well


async def test_all_services_report_what_is_in_their_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "_COUNT_TIMEOUT", 60)
    async with (
        scripted_model(script=lambda _: Says("Noted.")) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await client.facts.store(ANN, "I live in Oslo.")
        await client.facts.store(Scope("bob", "work"), "I live in Bergen.")
        answers = await ask_services(flow.caller, "shop", ROAD, {})

    findings = answers.findings
    assert answers.stores == {"graph", "vectors"}
    found = {finding.what: finding.found for finding in findings}
    assert all(finding.well for finding in findings), findings
    assert set(ROAD) <= set(found)
    assert found["stores of facts"] == "2 facts in the graph, 2 facts in the vectors"
    assert found["stores of episodes"] == "0 episodes in the vectors"
    assert "0 conversations in the graph" in found["stores of conversations"]
    assert "0 runs in the graph" in found["stores of working-memory"]
    assert "384 dimensions" in found["embedding model"]
    assert "scripted speaks" in found["language model"]


LEARNING: dict[str, dict[str, Any]] = {"completion": {"attempts": 1}, "extraction": {}}


async def model_findings(script: Script, folder: Path) -> dict[str, Finding]:
    """What the doctor finds of a flow that learns by a model."""
    async with (
        scripted_model(script=script) as model,
        running_flow(folder, LEARNING, settings=model.settings) as flow,
    ):
        answers = await ask_services(flow.caller, "shop", LEARNING, {})
    return {each.what: each for each in answers.findings}


def thinks_at_length(request: ModelRequest) -> Reply:
    """A reasoning model: a few tokens are not enough for its thoughts."""
    if (request.json.get("max_tokens") or 1_000) < 100:
        return Sends(
            'data: {"choices": [{"delta": {"reasoning_content": "Hm"}}]}\n\n'
            'data: {"choices": [{"delta": {}, "finish_reason": "length"}]}\n\n'
        )
    return Writes({"answer": "yes"}) if request.schema else Says("Yes.", reasoning="Hm.")


def takes_little(request: ModelRequest) -> Reply:
    """An endpoint with neither tools nor JSON schemas nor a temperature."""
    for name in ("tools", "response_format", "temperature"):
        if name in request.json:
            return Fails(400, "unknown parameter", param=name)
    if '"action"' in request.text:
        return Says('{"thought": "", "answer": "Yes."}')
    return Says('{"answer": "yes"}')


@pytest.mark.parametrize("script", [thinks_at_length, takes_little])
async def test_the_model_is_well_when_it_does_what_the_flow_asks(
    tmp_path: Path, script: Script
) -> None:
    found = await model_findings(script, tmp_path)
    assert found["language model"].well, found
    assert found["learning by the model"].well, found


async def test_a_model_that_cannot_learn_is_a_problem(tmp_path: Path) -> None:
    found = await model_findings(lambda _: Says("I speak no JSON."), tmp_path)
    assert found["language model"].well
    assert not found["learning by the model"].well
    assert "not JSON" in found["learning by the model"].found
    assert "by rule" in found["learning by the model"].remedy


async def test_a_model_without_tools_or_words_is_a_problem(tmp_path: Path) -> None:
    found = await model_findings(lambda _: Fails(401, "wrong key"), tmp_path)
    assert not found["language model"].well
    assert "wrong key" in found["language model"].found
