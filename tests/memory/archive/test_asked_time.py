"""The time that a question names, and what was said then."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from fourtier.memory.archive.asked_time import window_of
from tests.memory.archive.test_archive_service import archived, search, tell, turn
from tests.support.flow import running_flow

#: A Wednesday.
ASKED = datetime(2024, 5, 15, 12, tzinfo=UTC)
#: Days after what happened in which it is told.
LATER = 8


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did we eat on 2023-07-04?", "2023-07-04", "2023-07-04"),
        ("What did Ann say on 4 July 2023?", "2023-07-04", "2023-07-04"),
        ("What did Ann say on the 4th of July, 2023?", "2023-07-04", "2023-07-04"),
        ("And on July 4th, 2023?", "2023-07-04", "2023-07-04"),
        ("What happened in Sept. 2023?", "2023-09-01", "2023-09-30"),
        ("What happened in February 2024?", "2024-02-01", "2024-02-29"),
        ("Where were we in June?", "2023-06-01", "2023-06-30"),
        ("Where were we in April?", "2024-04-01", "2024-04-30"),
        ("Who moved on 3 May?", "2024-05-03", "2024-05-03"),
        ("What did I read in 2022?", "2022-01-01", "2022-12-31"),
        ("What did I say yesterday?", "2024-05-14", "2024-05-14"),
        ("What did I do last week?", "2024-05-06", "2024-05-12"),
        ("How many plants did I buy in the last month?", "2024-04-01", "2024-05-15"),
        ("What came in the past two weeks?", "2024-05-01", "2024-05-15"),
        ("What has changed since March 2024?", "2024-03-01", "2024-05-15"),
        ("What was it like before June 2021?", "1000-01-01", "2021-06-30"),
        ("Between May 2023 and July 2023, what broke?", "2023-05-01", "2023-07-31"),
    ],
)
def test_the_time_of_a_question(question: str, first: str, last: str) -> None:
    window = window_of(question, ASKED)
    assert window is not None
    assert window.since.date() == date.fromisoformat(first)
    assert window.until.date() == date.fromisoformat(last) + timedelta(days=LATER)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "When did I go camping?",
        "May I march with you?",
        "What is the second of the three?",
        "What does June like?",
        "What shall we do next week?",
        "Is flight 2023 on time?",
    ],
)
def test_no_time_is_named(question: str) -> None:
    assert window_of(question, ASKED) is None


async def test_what_was_said_then_comes_first(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"embeddings": {}, "archive": {}}) as flow:
        reported = [
            turn(number, f"We had {dish} for dinner at the lake, and it was great.").model_copy(
                update={"timestamp": datetime(2023, number, 10, tzinfo=UTC)}
            )
            for number, dish in enumerate(("pasta", "soup", "fish", "rice", "cake"), start=1)
        ]
        await tell(flow, *reported)
        await archived(flow, 5)
        for month, each in enumerate(reported, start=1):
            hits = await search(flow, f"What dinner did we have in 2023-0{month}?", explain=True)
            assert hits[0].entry.content == each.content
            assert hits[0].legs["time"].rank == 1
            assert "time" not in hits[1].legs
            assert len(hits) == 5
        hits = await search(flow, "What dinner did we have?", explain=True)
        assert not any("time" in hit.legs for hit in hits)
