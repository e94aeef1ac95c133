"""What a success did otherwise than a failure of the same goal."""

import json
from datetime import UTC, datetime, timedelta

from fourtier.memory.episodes.comparison import MAX_TOKENS, compared, differences
from fourtier.memory.episodes.resemblance import Resemblance
from fourtier.models.text.tokens import count_tokens
from fourtier.models.text.tool_calls import ToolUse
from fourtier.schema.episodes import Episode, Result

START = datetime(2026, 3, 1, tzinfo=UTC)
LOOK = 'get_reservation({"id": "PEP4E0"}): business, two bags'


def episode(
    name: str, result: Result, *steps: str, goal: str = "Cancel PEP4E0", day: int = 0
) -> Episode:
    return Episode(
        id=name,
        goal=goal,
        steps=steps,
        outcome="",
        result=result,
        timestamp=START + timedelta(days=day),
    )


def comparison(one: Episode, *others: Episode) -> Episode:
    return compared(one, others, Resemblance([one, *others]))


def use(tool: str, **arguments: str) -> ToolUse:
    return ToolUse(tool, arguments, "ok")


GOOD = episode("good", "success", LOOK, 'cancel({"id": "PEP4E0", "reason": "illness"}): done')
BAD = episode("bad", "failure", LOOK, 'transfer({"to": "a human"}): no answer', day=1)


def test_a_failure_says_what_the_success_did_otherwise() -> None:
    reported = comparison(BAD, GOOD)

    assert reported.comparison == "the success of 2026-03-01 used cancel; did not use transfer"
    assert reported.compared_with == "good"


def test_a_success_says_what_it_did_otherwise_than_the_failure() -> None:
    reported = comparison(GOOD, BAD)

    assert reported.comparison == (
        "unlike the failure of 2026-03-02, this used cancel; did not use transfer"
    )
    assert reported.compared_with == "bad"


def test_arguments_that_differ_are_named_with_both_values() -> None:
    good = [use("search", cabin="economy", date="1 May"), use("book", cabin="economy", seat="4A")]
    bad = [use("search", cabin="economy", date="1 May"), use("book", cabin="business")]

    assert list(differences(good, bad)) == [
        "called book with cabin economy and not business, seat 4A"
    ]


def test_values_inside_of_lists_count_and_long_texts_do_not() -> None:
    good = [ToolUse("book", {"legs": [{"number": "AB1"}], "note": "x" * 80}, "")]
    bad = [ToolUse("book", {"legs": [{"number": "CD2"}], "note": "y" * 80}, "")]

    assert list(differences(good, bad)) == ["called book with number AB1 and not CD2"]


def test_where_all_is_the_same_the_order_tells() -> None:
    good, bad = [use("cancel"), use("book")], [use("book"), use("cancel")]

    assert list(differences(good, bad)) == ["used cancel before book"]


def test_what_changed_something_comes_before_what_was_looked_up() -> None:
    good = [use("search", day="1"), use("book", seat="1")]
    bad = [use("search", day="2"), use("book", seat="2")]

    assert [each.split()[1] for each in differences(good, bad)] == ["book", "search"]


def test_episodes_of_another_goal_or_the_same_end_are_not_compared() -> None:
    other = episode("other", "success", 'mow({"lawn": "front"}): short', goal="Mow the lawn")
    same = episode("same", "failure", LOOK, 'wait({"id": "PEP4E0"}): nothing')
    unknown = episode("unknown", "unknown", *GOOD.steps)

    assert comparison(BAD, other, same, unknown) == BAD
    assert comparison(unknown, BAD, GOOD) == unknown


def test_the_most_alike_is_compared_and_of_those_that_are_so_the_newest() -> None:
    newer = GOOD.model_copy(update={"id": "newer", "timestamp": START + timedelta(days=5)})
    farther = episode("farther", "success", LOOK, 'wait({"for": "the 14 others of us"}): ok', day=9)

    assert comparison(BAD, GOOD, newer, farther).compared_with == "newer"


def test_two_that_did_the_same_or_tell_no_tools_have_no_comparison() -> None:
    twin = GOOD.model_copy(update={"id": "twin", "result": "failure"})
    words = episode("words", "failure", "I looked at PEP4E0 and cancelled")

    assert comparison(twin, GOOD) == twin
    assert comparison(words, GOOD).comparison == ""


def test_a_comparison_is_short_whatever_there_is_to_tell() -> None:
    goal = " ".join(f"item{number}" for number in range(300))

    def steps(number: int, value: str) -> list[str]:
        shown = json.dumps({f"name_{each}": f"{value}{each}" for each in range(20)})
        return [f"tool{each}({shown}): ok" for each in range(number)]

    good = episode("good", "success", *steps(9, "a"), goal=goal)
    bad = episode("bad", "failure", *steps(4, "b"), goal=goal)

    reported = comparison(bad, good).comparison
    assert reported.startswith("the success of 2026-03-01 used tool4, tool5, tool6, 2 more")
    assert count_tokens(reported) <= MAX_TOKENS
