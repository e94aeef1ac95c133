"""The model that compares two statements, as it is shipped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourtier.models.contradictions import cross_encoder
from fourtier.models.contradictions.adapter import FILE, Adapter
from fourtier.models.contradictions.cross_encoder import CrossEncoder
from fourtier.runtime.errors import StartupError

OVER = [
    ("I live in Oslo.", "We moved to Bergen in May."),
    ("The flight leaves at 7:40.", "Correction: the flight leaves at 8:15, not 7:40."),
    ("Kemal does the deliveries.", "Kemal has done his back in, so Femke does the deliveries."),
    ("I drive a red Skoda.", "I sold the Skoda last week."),
]
HOLD = [
    ("I live in Oslo.", "My sister lives in Bergen."),
    ("The rye loaf is 4.20.", "The spelt loaf is 5.60."),
    ("I had a filling done on Tuesday.", "I had a wisdom tooth pulled on Tuesday."),
    ("I have a cat called Miso.", "I like the theatre."),
]


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return CrossEncoder.load()


def test_what_is_over_is_more_likely_so_than_what_holds(model: CrossEncoder) -> None:
    assert min(model(OVER)) > 0.9
    assert max(model(HOLD)) < 0.5


def test_the_order_of_the_two_counts(model: CrossEncoder) -> None:
    sold = ("I drive a red Skoda.", "I sold the Skoda last week.")
    assert model([sold])[0] > model([sold[::-1]])[0]


def test_a_pair_has_one_probability_whatever_is_asked_beside_it(model: CrossEncoder) -> None:
    alone = [model([pair])[0] for pair in [*OVER, *HOLD]]
    assert model([*OVER, *HOLD, ("long " * 300, "short")])[:-1] == pytest.approx(alone, abs=1e-4)


def test_the_adapter_is_one_of_this_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(Adapter.load(), base="0" * 64)
    monkeypatch.setattr(cross_encoder.Adapter, "load", lambda: other)
    with pytest.raises(StartupError, match=r"uv\.lock"):
        CrossEncoder.load.__wrapped__()  # tests load it once


def test_an_adapter_is_read_as_it_was_written(tmp_path: Path) -> None:
    adapter = Adapter.load()
    adapter.save(tmp_path / FILE)
    with np.load(tmp_path / FILE) as stored:
        assert {*stored.files} == {*adapter.arrays, "base"}
        assert bytes(stored["base"]).decode() == adapter.base
        for name, array in adapter.arrays.items():
            assert np.array_equal(stored[name].astype(np.float32), array)
