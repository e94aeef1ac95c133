"""Runs as the agent tells of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from fourtier.schema.agent import AgentStep, InvocationEnded

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SEARCH = AgentStep(
    thought="I look for flights.",
    action="search_flights",
    arguments={"to": "Rome"},
    observation="AB12 at 9:00, 120 euros\nCD34 at 11:00, 95 euros",
)
BOOK = AgentStep(action="book_flight", arguments={"flight": "CD34"}, observation="booked, seat 4A")


def run(
    question: str,
    *,
    steps: Sequence[AgentStep] = (),
    run_id: str = "r1",
    user: str = "ann",
    answer: str = "Done.",
    **other: Any,
) -> InvocationEnded:
    return InvocationEnded(
        user=user,
        conversation_id="c1",
        run_id=run_id,
        question=question,
        answer=answer,
        steps=tuple(steps),
        started_at=START,
        ended_at=START + timedelta(minutes=1),
        **other,
    )
