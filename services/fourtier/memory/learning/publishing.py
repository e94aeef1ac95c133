"""Sending what was learned to the services that store it."""

import asyncio
from collections.abc import Sequence

from fourtier.memory.learning.learned import Learned
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.episodes import STORE_EPISODE
from fourtier.schema.facts import STORE_FACT, StoreFactRequest

#: Commands that wait for the broker's receipt at one time.
_MAX_CONCURRENCY = 16


async def publish_learned(caller: Caller, privacy: Privacy, cause: str, learned: Learned) -> None:
    """Send facts and episode on; returns when the broker has them all.

    Without personal data, also where a model has written some; a fact that has what the flow
    rejects is not sent.
    The commands are named after their cause, so that a repetition is recognised.

    Raises:
        BusError: the broker did not confirm one of them.
    """
    learned = await _allowed(learned, privacy)
    for start in range(0, len(learned.facts), _MAX_CONCURRENCY):
        await _publish_facts(caller, cause, start, learned.facts[start : start + _MAX_CONCURRENCY])
    if learned.episode is not None:
        await caller.publish(STORE_EPISODE.topic, learned.episode, message_id=f"{cause}/episode")


async def _allowed(learned: Learned, privacy: Privacy) -> Learned:
    cleaned = [await privacy.clean(fact) for fact in learned.facts]
    return Learned(
        tuple(each.message for each in cleaned if not privacy.rejected(each.message, each.counts)),
        (await privacy.clean(learned.episode)).message if learned.episode else None,
    )


async def _publish_facts(
    caller: Caller, cause: str, start: int, facts: Sequence[StoreFactRequest]
) -> None:
    sent = await asyncio.gather(
        *(
            caller.publish(STORE_FACT.topic, fact, message_id=f"{cause}/fact/{number}")
            for number, fact in enumerate(facts, start)
        ),
        return_exceptions=True,  # none is left running when the first one fails
    )
    for failure in sent:
        if failure is not None:
            raise failure
