"""The bundled model behind the bus: what its vectors are like."""

import math
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from fourtier.models.embeddings import bundled
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.embeddings import EMBED, EmbedRequest
from tests.support.flow import running_flow


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with running_flow(tmp_path, {"embeddings": {"threads": 2}}) as flow:
        yield flow.caller


async def embed(caller: Caller, *texts: str) -> list[list[float]]:
    answered = await caller.call(EMBED, EmbedRequest(texts=texts))
    assert answered.model == bundled.NAME
    return [vector.floats() for vector in answered.vectors]


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_vectors_are_of_unit_length_and_near_for_near_meanings(caller: Caller) -> None:
    trip, journey, cooking = await embed(
        caller,
        "The budget for the trip is 8,450 euros.",
        "How much money do we have for the journey?",
        "Fry the onions until they are golden.",
    )
    for vector in (trip, journey, cooking):
        assert len(vector) == bundled.DIMENSIONS
        assert math.isclose(math.hypot(*vector), 1, rel_tol=1e-3)
    assert cosine(trip, journey) > cosine(trip, cooking) + 0.2


async def test_vectors_come_in_the_order_of_their_texts(caller: Caller) -> None:
    texts = [f"{'word ' * (number % 9)}number {number}" for number in range(60)]
    batch = await embed(caller, *texts)
    for index in (0, 17, 59):
        (alone,) = await embed(caller, f"{texts[index]}")
        assert cosine(alone, batch[index]) > 0.99


async def test_a_text_has_nearly_the_same_vector_in_every_batch(tmp_path: Path) -> None:
    text = "Ann moved to Oslo in May."
    async with running_flow(tmp_path / "alone", {"embeddings": {}}) as flow:
        (alone,) = await embed(flow.caller, text)
    async with running_flow(tmp_path / "batch", {"embeddings": {"threads": 1}}) as flow:
        *_, batch = await embed(flow.caller, "A much longer text " * 12, "x", text)
    assert cosine(alone, batch) > 0.99


@pytest.mark.parametrize(
    ("texts", "limit"),
    [(("x",) * 513, "512 items"), (("x" * 200_001,), "200000 characters"), ((), "1 item")],
)
async def test_texts_beyond_a_limit_are_malformed(
    tmp_path: Path, texts: tuple[str, ...], limit: str
) -> None:
    async with running_flow(tmp_path, {"embeddings": {}}) as flow:
        flow.bus.local = None  # what is handed over within a process is not read again
        with pytest.raises(CallFailedError, match=limit) as error:
            await flow.caller.call(EMBED, EmbedRequest.model_construct(texts=texts))
    assert error.value.type == "malformed"
