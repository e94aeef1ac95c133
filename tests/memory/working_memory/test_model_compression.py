"""Condensing by a model: its text when it is there, the rule's until then and when it is not."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.working_memory.service import WorkingMemoryParameters
from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.routes import Route, stream_route
from fourtier.runtime.settings import Settings
from fourtier.schema.completion import COMPLETE, CompleteRequest, CompletionPiece
from tests.memory.working_memory.support import append, discard, found, get, item, steps
from tests.support.flow import RunningFlow, running_flow
from tests.support.waiting import wait_until

THRESHOLD = 250


class Model:
    """Stands in for `completion`; says what a test wants, piece by piece."""

    def __init__(self, says: Callable[[], str], free: asyncio.Event | None = None) -> None:
        self.asked: list[CompleteRequest] = []
        self._says = says
        self._free = free

    def routes(self) -> Iterator[Route]:
        yield stream_route(COMPLETE, self.complete)

    async def complete(self, request: CompleteRequest) -> AsyncIterator[CompletionPiece]:
        self.asked.append(request)
        if self._free is not None:
            await self._free.wait()
        text = self._says()
        yield CompletionPiece(type="thought", content="Let me see.")
        for part in text.partition(" "):
            yield CompletionPiece(type="answer", content=part)
        yield CompletionPiece(type="end")


@asynccontextmanager
async def flow_with(data: Path, model: Model, **parameters: Any) -> AsyncGenerator[RunningFlow]:
    services = {"working-memory": {"compression": "llm"} | parameters}
    async with running_flow(data, services) as flow:
        for subscribed in flow.host.serve(flow.bus, "completion", model):
            await subscribed.wait()
        yield flow


async def until_shown(flow: RunningFlow, text: str) -> None:
    async def is_shown() -> bool:
        return (await get(flow.caller)).trace.condensed == text

    await wait_until(is_shown)


async def test_the_models_text_replaces_the_rules(tmp_path: Path) -> None:
    free = asyncio.Event()
    model = Model(lambda: "All ten offers were too expensive.", free)
    async with flow_with(tmp_path, model) as flow:
        at_once = await append(flow.caller, steps(0, 10), threshold=THRESHOLD)
        free.set()
        await until_shown(flow, "All ten offers were too expensive.")

        later = await append(flow.caller, [], threshold=THRESHOLD)

    assert found(0) in at_once.condensed  # the run did not wait for the model
    assert later.items == at_once.items
    assert later.condensed == "All ten offers were too expensive."
    assert len(model.asked) == 1


async def test_the_model_is_asked_for_what_is_new_with_its_former_text(
    tmp_path: Path,
) -> None:
    texts = iter(["The first notes.", "The second notes."])
    model = Model(lambda: next(texts))
    async with flow_with(tmp_path, model) as flow:
        await append(flow.caller, steps(0, 10), threshold=THRESHOLD)
        await until_shown(flow, "The first notes.")
        await append(flow.caller, steps(10, 20), threshold=THRESHOLD)
        await until_shown(flow, "The second notes.")

    system, user = model.asked[1].messages
    assert "At most 125 tokens" in system.content
    assert user.content.startswith(
        'Notes so far:\n<data from="steps">\n- The first notes.\n</data>\n\n'
        'Steps since then:\n<data from="steps">\n- 8. '
    )
    assert found(7) not in user.content
    assert found(17) in user.content
    assert found(18) not in user.content


async def test_a_text_that_is_too_long_is_cut_to_its_room(tmp_path: Path) -> None:
    async with flow_with(tmp_path, Model(lambda: "Far too much 4,711. " * 500)) as flow:
        at_once = await append(flow.caller, steps(0, 10), threshold=THRESHOLD)

        async def is_cut() -> bool:
            return (await get(flow.caller)).trace.condensed.startswith("Far too much 4,711.")

        await wait_until(is_cut)
        assert (await get(flow.caller)).trace.tokens <= at_once.tokens + 125


def reject() -> str:
    raise PermanentError("the tokens of today are used up")


@pytest.mark.parametrize(
    ("says", "reason"),
    [(reject, "the tokens of today are used up"), (lambda: " ", "the model answered nothing")],
)
async def test_a_model_that_fails_leaves_the_rules_text_and_a_warning(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    says: Callable[[], str],
    reason: str,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with flow_with(tmp_path, Model(says)) as flow:
            trace = await append(flow.caller, steps(0, 10), threshold=THRESHOLD)
            await wait_until(lambda: reason in caplog.text)
            assert (await get(flow.caller)).trace == trace

    assert "r1 stay condensed by rule" in caplog.text


async def test_a_model_that_is_late_is_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    never = asyncio.Event()
    limit = {"condense-seconds": 0.05}
    async with flow_with(tmp_path, Model(lambda: "Too late.", never), **limit) as flow:
        trace = await append(flow.caller, steps(0, 10), threshold=THRESHOLD)
        await wait_until(lambda: "the model took longer than 0.05 s" in caplog.text)
        assert (await get(flow.caller)).trace == trace
        never.set()


async def test_a_text_for_a_run_that_was_discarded_meanwhile_is_dropped(tmp_path: Path) -> None:
    free = asyncio.Event()
    texts = iter(["Of no use.", "Of use."])
    async with flow_with(tmp_path, Model(lambda: next(texts), free)) as flow:
        await append(flow.caller, [*steps(0, 10), item(10, "answer", "Done.")], threshold=THRESHOLD)
        await discard(flow.caller)
        free.set()
        await append(flow.caller, steps(0, 10), threshold=THRESHOLD, run_id="r2")

        async def other_is_there() -> bool:
            return bool((await get(flow.caller, run_id="r2")).trace.condensed == "Of use.")

        await wait_until(other_is_there)
        assert (await get(flow.caller)).trace.condensed == ""


@pytest.mark.parametrize(
    ("compression", "named", "by_model"),
    [
        ("auto", {}, False),
        ("auto", {"model_url": "http://localhost:11434/v1"}, True),
        ("auto", {"model_key": "sk-1"}, True),
        ("rule", {"model_key": "sk-1"}, False),
        ("llm", {}, True),
    ],
)
def test_a_model_condenses_where_a_real_one_is_named(
    compression: str, named: dict[str, str], *, by_model: bool
) -> None:
    parameters = WorkingMemoryParameters.model_validate({"compression": compression})
    settings = Settings(**({"model_url": None, "model_key": None} | named))

    assert parameters.by_model(settings) == by_model


async def test_the_flows_own_prompt_is_used(tmp_path: Path) -> None:
    model = Model(lambda: "Notes.")
    prompts = {"condense": "Be short: {tokens}."}
    async with flow_with(tmp_path, model, prompts=prompts) as flow:
        await append(flow.caller, steps(0, 10), threshold=THRESHOLD)
        await until_shown(flow, "Notes.")
    assert model.asked[0].messages[0].content == "Be short: 125."
