"""What the numbers mean: which of them is a problem, and what is to be done."""

from typing import Any

import pytest

from fourtier.operations.backlogs import Queue
from fourtier.operations.doctor.findings import Finding, duration
from fourtier.operations.doctor.queues import Judging, findings_of

NOW = 1_700_000_000.0
JUDGING = Judging("shop", old_after=300, at=NOW)
HERE = ("1.0.0",)


def queue(topic: str = "facts.store", group: str = "facts", **values: Any) -> Queue:
    return Queue(topic, group, **({"exists": True, "versions": HERE} | values))


def waiting(seconds: float, **values: Any) -> Queue:
    return queue(messages=12, oldest_at=NOW - seconds, **values)


def only(*queues: Queue) -> Finding:
    (finding,) = findings_of(queues, JUDGING)
    return finding


def test_without_a_backlog_there_is_one_line() -> None:
    finding = only(queue(), queue("facts.erase"), queue("agent.request", "agent"))
    assert (finding.what, finding.well) == ("queues", True)
    assert finding.found == "nothing waits in 3 of 3"


def test_a_short_backlog_is_shown_and_is_not_a_problem() -> None:
    finding = only(waiting(5))
    assert finding.what == "facts.store for facts"
    assert (finding.well, finding.remedy) == (True, "")
    assert finding.found == "12 messages wait, the oldest for 5 s"


@pytest.mark.parametrize(
    ("found", "said", "remedy"),
    [
        (waiting(5, versions=()), "nobody takes them", "`fourtier serve shop facts`"),
        (waiting(7_200), "the oldest for 2 h: that is long", "see in the log of facts"),
        (waiting(5, quota_used=0.9), "90% of the backlog quota", "backlog-megabytes"),
        (waiting(7_200, quota_used=0.9), "that is long, and 90% of", "backlog-megabytes"),
        (waiting(5, versions=(), quota_used=0.9), "nobody takes them, and 90% of", "serve shop"),
        (queue(versions=()), "nobody would take it: facts", "`fourtier serve shop SERVICE`"),
        (queue(exists=False), "what is published is not stored", "`fourtier init shop`"),
    ],
)
def test_a_problem_has_a_remedy(found: Queue, said: str, remedy: str) -> None:
    finding = only(found)
    assert not finding.well
    assert said in finding.found
    assert remedy in finding.remedy


def test_empty_queues_of_one_kind_share_a_line() -> None:
    findings = findings_of(
        [
            queue(),
            queue("agent.request", "agent", versions=()),
            queue("facts.erase", versions=()),
            queue("a", exists=False),
            queue("b", exists=False),
        ],
        JUDGING,
    )
    assert [finding.what for finding in findings] == [
        "queues",
        "queues without replicas",
        "missing queues",
    ]
    assert "agent, facts" in findings[1].found
    assert "a for facts, b for facts" in findings[2].found


def test_dead_letters_are_not_a_backlog_but_their_queue_must_exist() -> None:
    letters = queue("dead-letters.facts", "operator", versions=(), messages=3)
    assert findings_of([letters], JUDGING) == []
    assert not only(Queue("dead-letters.facts", "operator")).well


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7_200, "2 h"),
        (300_000, "3 days"),
    ],
)
def test_a_duration_is_written_as_people_say_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said
