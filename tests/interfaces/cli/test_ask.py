"""`fourtier ask`: exit codes and what it prints, for scripts above all."""

import json

import pytest

from tests.interfaces.cli.agents import answering, failing
from tests.interfaces.cli.support import Command


def test_an_answer_is_printed_and_the_exit_code_is_0(fourtier: Command) -> None:
    fourtier.routes = [answering()]
    assert fourtier("ask", "Is it so?", "--user", "ann") == 0
    assert fourtier.out.startswith("Yes.\n")


def test_a_run_that_failed_exits_with_1_and_says_why(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda _: "the model cannot be reached", error="model")]
    assert fourtier("ask", "Is it so?", "--user", "ann") == 1
    assert "No answer: the model cannot be reached" in fourtier.out
    assert fourtier("ask", "Is it so?", "--user", "ann", "--json") == 1
    assert json.loads(fourtier.out)["error"]["message"] == "the model cannot be reached"


def test_a_run_that_may_be_asked_again_says_after_how_many_seconds(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda _: "slow down", error="model-busy", retry_after=20.0)]
    assert fourtier("ask", "Is it so?", "--user", "ann", "--json") == 1
    expected = {"type": "model-busy", "message": "slow down", "retry_after": 20.0}
    assert json.loads(fourtier.out)["error"] == expected


def test_a_request_that_could_not_be_handled_exits_with_1(fourtier: Command) -> None:
    fourtier.routes = [failing()]
    assert fourtier("ask", "Is it so?", "--user", "ann") == 1
    assert "this cannot be answered" in fourtier.said


def test_the_request_id_names_the_run(fourtier: Command) -> None:
    fourtier.routes = [answering()]
    assert fourtier("ask", "Is it so?", "--user", "ann", "--request-id", "r1", "--json") == 0
    assert json.loads(fourtier.out)["run_id"] == "r1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "", "--user", "ann"], "question: String should have at least 1 character"),
        (["ask", "Hello", "--user", ""], "String should have at least 1 character"),
        (["ask", "Hello", "--user", "u" * 600], "String should have at most 512 characters"),
        (["ask", "Hello", "--collection", ""], "String should have at least 1 character"),
        (["chat", "--user", ""], "String should have at least 1 character"),
        (["facts", "list", "--user", "u" * 600], "String should have at most 512 characters"),
        (["facts", "add", "", "--user", "ann"], "content: String should have at least 1 char"),
        (["up", "--user", ""], "String should have at least 1 character"),
    ],
)
def test_a_wrong_argument_is_named_and_exits_with_2(
    fourtier: Command, arguments: list[str], said: str
) -> None:
    fourtier.routes = [answering()]
    assert fourtier(*arguments) == 2
    assert said in fourtier.said.replace("│ ", "").replace(" │", "")
