"""In which order episodes are handed over."""

from fourtier.memory.episodes.ranking import arranged
from fourtier.memory.episodes.resemblance import Resemblance
from fourtier.schema.episodes import Episode
from tests.memory.episodes.test_comparison import episode

CANCEL = 'cancel({"id": "PEP4E0"}): cancelled'
MOW = 'mow({"lawn": "front"}): short'


def order(*found: Episode) -> list[str]:
    return [each.id for each in arranged(found, Resemblance(found))]


def test_equal_episodes_leave_a_place_for_others() -> None:
    same = [episode(f"c{number}", "success", CANCEL) for number in range(4)]
    other = episode("m", "success", MOW, goal="Mow the lawn")

    assert order(*same, other) == ["c0", "m", "c1", "c2", "c3"]


def test_behind_the_best_of_a_goal_comes_one_that_ended_otherwise() -> None:
    bad = [episode(f"b{number}", "failure", CANCEL) for number in range(2)]
    good = episode("g", "success", CANCEL)
    other = episode("m", "success", MOW, goal="Mow the lawn")

    assert order(*bad, other, good) == ["b0", "g", "m", "b1"]
    assert order(good, *bad, other) == ["g", "b0", "m", "b1"]


def test_those_of_which_nothing_tells_the_end_keep_their_places() -> None:
    same = [episode(f"c{number}", "unknown", CANCEL) for number in range(3)]
    other = episode("m", "unknown", MOW, goal="Mow the lawn")

    assert order(*same, other) == ["c0", "c1", "c2", "m"]


def test_behind_the_three_nearest_goals_all_stand_as_they_were_found() -> None:
    kinds = {"a": "apples", "b": "bridges", "c": "candles", "d": "drums"}
    found = [
        episode(f"{key}{number}", "success", f'count({{"of": "{what}"}}): {what}', goal=what)
        for number in range(2)
        for key, what in kinds.items()
    ]

    assert order(*found) == ["a0", "b0", "c0", "d0", "a1", "b1", "c1", "d1"]
