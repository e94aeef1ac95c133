"""Which statements are compared by the model at all, with small talk as people made it."""

from itertools import permutations

import pytest

from fourtier.memory.facts.worth_comparing import are_worth_comparing


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I sing second alto.", "I've switched to first alto."),
        ("We spend 600 euros a month on groceries.", "We spend 720 euros a month on groceries."),
        ("Our choir has no tenors.", "Our choir has two tenors now."),
        ("Dad is in hospital with pneumonia.", "Dad was discharged from hospital this morning."),
        ("The big tank outside is full.", "The big tank outside is empty."),
        ("There is no water tap on our plot.", "We finally have a water tap on our plot."),
        (
            "My copy deadline is 17:00.",
            "Since they outsourced the printing my copy deadline has moved, I file by 16:15.",
        ),
    ],
)
def test_a_change_is_worth_comparing_whichever_comes_first(older: str, newer: str) -> None:
    for one, other in permutations([older, newer]):
        assert are_worth_comparing(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sounds great, Mel.", "That's sweet now, Mel!"),
        ("I'm super happy about the new house.", "I'm no longer happy in the house."),
        ("I'm looking for new recipe ideas.", "I finally tried a new recipe."),
        ("My sister lives in Rome.", "The printer is broken."),
        (
            "Next month I have an art show.",
            "A lot has happened since we last chatted, I joined a new group and do art there.",
        ),
        (
            "Family moments make life awesome whatever happens.",
            "Walks with family make a life that nobody forgets.",
        ),
    ],
    ids=["remark", "feeling", "request", "nothing in common", "one word of many", "no change"],
)
def test_talk_is_not_worth_comparing(one: str, other: str) -> None:
    assert not are_worth_comparing(one, other)
    assert not are_worth_comparing(other, one)
