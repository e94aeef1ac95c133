"""The queue before the model: fair, nothing twice, and one text's failure is not another's."""

import asyncio
import threading

import pytest

from fourtier.models.batching import SLICE, Batcher
from fourtier.runtime.errors import UnavailableError
from fourtier.schema.message import Vector
from tests.support.waiting import wait_until


class GatedModel:
    """Says for each text how long it is, one run for each time that the gate is opened."""

    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self._gate = threading.Semaphore(0)

    def __call__(self, texts: list[str]) -> list[Vector]:
        self.runs.append(texts)
        self._gate.acquire()
        if "bad" in texts:
            raise ValueError("a bad text")
        return [Vector.of([float(len(text))]) for text in texts]

    def open(self, runs: int = 1_000) -> None:
        self._gate.release(runs)


async def test_a_question_does_not_wait_behind_a_long_list() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=1_000, threads=1)
    many = [f"text {number}" for number in range(20 * SLICE)]
    async with asyncio.TaskGroup() as group:
        long_list = group.create_task(batcher.run(many))
        await wait_until(lambda: len(model.runs) == 1)
        question = group.create_task(batcher.run(["a question"]))
        model.open(3)
        assert await question == [Vector.of([10.0])]
        assert not long_list.done()
        model.open()
    assert any("a question" in run for run in model.runs[:3])
    assert await long_list == [Vector.of([float(len(text))]) for text in many]
    await batcher.close()


async def test_a_long_list_gets_on_while_questions_keep_coming() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=1_000, threads=1)
    many = [f"text {number}" for number in range(3 * SLICE)]
    long_list = asyncio.create_task(batcher.run(many))
    asked = 0
    while not long_list.done():
        questions = [asyncio.create_task(batcher.run([f"{asked} {n}"])) for n in range(SLICE)]
        asked += 1
        model.open()
        await asyncio.gather(*questions)
        assert asked < 10, "the list starves"
    await batcher.close()


async def test_a_text_that_two_ask_for_goes_through_the_model_once() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=10, threads=2)
    asked = [asyncio.create_task(batcher.run(["same", "same"])) for _ in range(3)]
    await wait_until(lambda: bool(model.runs))
    model.open()
    assert await asyncio.gather(*asked) == [[Vector.of([4.0])] * 2] * 3
    assert await batcher.run(["same"]) == [Vector.of([4.0])]
    assert model.runs == [["same"]]
    await batcher.close()


async def test_who_gives_up_does_not_take_the_vector_from_another() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=10, threads=1)
    hasty = asyncio.create_task(batcher.run(["same"]))
    waiting = asyncio.create_task(batcher.run(["same"]))
    await wait_until(lambda: bool(model.runs))
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    model.open()
    assert await waiting == [Vector.of([4.0])]
    await batcher.close()


async def test_an_error_of_the_model_reaches_the_caller_and_is_not_cached() -> None:
    model = GatedModel()
    model.open()
    batcher = Batcher(model, cache_size=10, threads=1)
    with pytest.raises(ValueError, match="a bad text"):
        await batcher.run(["bad"])
    assert await batcher.run(["good"]) == [Vector.of([4.0])]
    with pytest.raises(ValueError, match="a bad text"):
        await batcher.run(["bad"])
    await batcher.close()


async def test_no_more_texts_are_remembered_than_wanted() -> None:
    model = GatedModel()
    model.open()
    batcher = Batcher(model, cache_size=2, threads=1)
    assert len(await batcher.run(["a", "b", "c"])) == 3
    await batcher.run(["c"])
    await batcher.run(["a"])
    assert model.runs == [["a", "b", "c"], ["a"]]
    await batcher.close()


@pytest.mark.parametrize("results", [0, 1, 3])
async def test_a_wrong_number_of_results_is_an_error_and_the_queue_goes_on(results: int) -> None:
    def model(texts: list[str]) -> list[int]:
        return [0] * results if "bad" in texts else [len(text) for text in texts]

    batcher = Batcher(model, cache_size=10, threads=1)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"{results} results for 2 items"):
            await batcher.run(["bad", "good"])
    async with asyncio.timeout(20):
        assert await batcher.run(["good"]) == [4]
    await batcher.close()


async def test_closing_waits_for_the_run_that_has_begun_and_for_no_other() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=10, threads=1)
    asked = asyncio.create_task(batcher.run([f"text {number}" for number in range(3 * SLICE)]))
    await wait_until(lambda: len(model.runs) == 1)
    closing = asyncio.create_task(batcher.close())
    await asyncio.sleep(0)
    assert not closing.done()
    model.open()
    await closing
    assert len(model.runs) == 1
    with pytest.raises(UnavailableError, match="ends"):
        await asked
    with pytest.raises(UnavailableError, match="ends"):
        await batcher.run(["another"])


async def test_closing_does_not_wait_for_a_request_that_was_cancelled() -> None:
    model = GatedModel()
    batcher = Batcher(model, cache_size=10, threads=1)
    asked = asyncio.create_task(batcher.run([f"text {number}" for number in range(40 * SLICE)]))
    await wait_until(lambda: len(model.runs) == 1)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    model.open(1)
    async with asyncio.timeout(20):
        await batcher.close()
    assert len(model.runs) == 1
