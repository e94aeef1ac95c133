"""What a flow says at its start."""

from typing import Any

import pytest

from fourtier.flows.model import read_flow
from fourtier.flows.parameters import parameters_of
from fourtier.memory.extraction.service import ExtractionParameters
from fourtier.operations.model_check import ModelCheck
from fourtier.operations.start_message import start_message
from fourtier.runtime.settings import Settings

UNNAMED: dict[str, Any] = {"model_url": None, "model_key": None, "model_name": None}
NAMED = {"model_url": "http://127.0.0.1:11434/v1", "model_name": "qwen3:8b", "model_key": "sk-x"}
LAPTOP = {name: parameters_of(read_flow("laptop"), name) for name in read_flow("laptop").services}


def checked(step: str = "", output: str = "") -> str:
    """The message about a model that was asked for a step and for an answer with a schema."""
    return start_message(LAPTOP, Settings(**UNNAMED | NAMED), ModelCheck(step, output))


def test_a_named_model_answers_and_learns() -> None:
    assert checked() == (
        "Answers come from the model qwen3:8b at http://127.0.0.1:11434/v1. "
        "It learns what you say, too."
    )


def test_a_model_that_cannot_learn_is_not_said_to_learn() -> None:
    assert checked(output="what it wrote is not JSON") == (
        "Answers come from the model qwen3:8b at http://127.0.0.1:11434/v1. "
        "What you say is learned by rule while the model cannot: what it wrote is not JSON."
    )


def test_a_model_that_does_not_answer_is_not_said_to_answer() -> None:
    assert checked("401: wrong key", "401: wrong key") == (
        "The model qwen3:8b at http://127.0.0.1:11434/v1 does not answer: 401: wrong key. "
        "What you say is learned by rule while the model cannot: 401: wrong key."
    )


def test_a_model_that_was_not_asked_is_said_to_be_there() -> None:
    assert "It is asked to learn" in start_message(LAPTOP, Settings(**UNNAMED | NAMED))


def test_without_one_rules_learn_and_it_says_how_to_name_one() -> None:
    said = start_message(LAPTOP, Settings(**UNNAMED))

    assert said.startswith("Answers come from the bundled SmolLM2-135M-Instruct")
    assert "What you say is learned by rule." in said
    assert "OPENAI_BASE_URL" in said


@pytest.mark.parametrize(
    ("services", "learned"),
    [
        ({"extraction": ExtractionParameters(method="statements")}, "in part"),
        ({"extraction": None, "promotion": None}, "Nothing that you say is learned."),
    ],
)
def test_a_flow_of_another_kind_says_so(services: dict[str, Any], learned: str) -> None:
    changed = LAPTOP | services
    there = {name: each for name, each in changed.items() if each is not None}

    assert learned in start_message(there, Settings(**UNNAMED | NAMED))


def test_a_process_without_the_model_says_nothing() -> None:
    assert start_message({"facts": LAPTOP["facts"]}, Settings(**UNNAMED)) == ""
