"""Which memories a run's prompt had, by its record."""

import json

import pytest

from fourtier.memory.conversations.records import in_prompt


@pytest.mark.parametrize(
    ("shown", "is_there"),
    [
        ("whole", True),
        ("cut", True),
        ("in-entry", True),
        ("in-conversation", True),
        ("repeated", True),
        ("budget", False),
        ("outdated", False),
    ],
)
def test_a_memory_is_in_the_prompt_unless_it_was_left_out(shown: str, is_there: bool) -> None:
    considered = [{"tier": "facts", "id": "f1", "shown": shown}]
    assert ("f1" in in_prompt(json.dumps(considered))) is is_there


def test_a_record_of_which_nothing_is_known_had_none() -> None:
    assert in_prompt("") == frozenset()
