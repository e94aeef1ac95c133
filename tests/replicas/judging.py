"""What must hold of runs that several processes have shared."""

from itertools import pairwise

from fourtier.client import client_on
from tests.chaos.findings import resolved
from tests.chaos.verdict import dead_letters, judge
from tests.replicas.asking import Asked
from tests.replicas.flow import ReplicatedFlow

#: Seconds after which memory has come to rest when nothing more is stored.
_RESTS_AFTER = 30.0


def assert_in_order(asked: Asked) -> None:
    """Runs of a conversation ended in the order in which they were sent, one after another.

    An event says when its question was sent, not when its run began; `Asked` sees that none begins
    before the one before it is answered.
    """
    sent = asked.by_conversation()
    assert sent.keys() == asked.ended.keys()
    for conversation, runs in sent.items():
        events = asked.ended[conversation]
        assert [event.run_id for event in events] == [run.name for run in runs], conversation
        for before, after in pairwise(events):
            names = f"{before.run_id} and {after.run_id}"
            assert before.started_at < after.started_at, names
            assert before.ended_at < after.ended_at, names


async def assert_nothing_lost_or_doubled(flow: ReplicatedFlow, asked: Asked) -> None:
    """Each run has one answer, and left one fact, one record, one episode and one payment."""
    answers = {name: len(replies) for name, replies in asked.finals.items()}
    assert answers == {run.name: 1 for run in asked.runs}
    async with client_on(asked.bus) as client:
        found = await resolved(client, asked.runs, within=_RESTS_AFTER)
    verdict = judge(flow.ledger, flow.script, asked.runs, found)
    assert not verdict.lost | verdict.doubled, verdict
    assert not verdict.unknown, "no tool was at work when processes left"
    assert await dead_letters(asked.bus) == []
