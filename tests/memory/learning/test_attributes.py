"""Attributes of which there are several, whatever a model says."""

import pytest

from fourtier.memory.learning.attributes import has_one_value
from fourtier.memory.learning.model_output import LearnedFact


def fact(attribute: str, *, one_value: bool = True, subject: str = "Ann") -> LearnedFact:
    return LearnedFact(
        content="x",
        kind="semantic",
        subject=subject,
        attribute=attribute,
        one_value=one_value,
        quote="x",
    )


@pytest.mark.parametrize(
    "attribute",
    ["home", "employer", "budget for the trip", "favourite book", "native language", "job_title"],
)
def test_what_has_one_value_at_a_time_supersedes(attribute: str) -> None:
    assert has_one_value(fact(attribute))
    assert not has_one_value(fact(attribute, one_value=False))


@pytest.mark.parametrize(
    "attribute",
    [
        "hobby",
        "Hobbies",
        "pet",
        "pets",
        "friend",
        "language",
        "foreign language",
        "allergies",
        "skill",
        "hobby in winter",
        "children",
        "",
        "for",
    ],
)
def test_what_there_are_several_of_does_not(attribute: str) -> None:
    assert not has_one_value(fact(attribute))


def test_nothing_supersedes_without_a_subject() -> None:
    assert not has_one_value(fact("home", subject=" "))
