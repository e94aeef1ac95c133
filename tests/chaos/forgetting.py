"""Forgetting in the middle of the load: all of a user, a conversation, a fact.

What was forgotten must never be there again, whatever is delivered, replayed or killed afterwards;
what others have said, and what is said later, must be there. A forget is a command: once the broker
has it, its effect must come, even if the service is killed over it, and nobody asks again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence

from fourtier.client import Client, Forgotten
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError
from fourtier.schema.archive import ERASE_ARCHIVE
from fourtier.schema.erasure import (
    ERASE_CONVERSATIONS,
    ERASE_EPISODES,
    ERASE_FACTS,
    ERASE_WORKING_MEMORY,
    EraseRequest,
    EraseResponse,
)
from fourtier.schema.facts import Fact
from fourtier.schema.message import Scope
from fourtier.schema.topics import Call
from tests.chaos.faults import Fault
from tests.chaos.flow import ChaosFlow
from tests.chaos.runs import Load, Run
from tests.chaos.tools import uses

_ERASURES = (
    ERASE_FACTS,
    ERASE_EPISODES,
    ERASE_CONVERSATIONS,
    ERASE_WORKING_MEMORY,
    ERASE_ARCHIVE,
)
#: Up to how many seconds after a forget has begun its service is killed.
_SOON = 0.05
_AGAIN = 0.2


def forgetting(killed: str = "", *, times: int, lasts: float = 0.0) -> Fault:
    """Forget all of one user, a conversation of another and a fact of a third, again and again.

    With `killed` a service or an engine is killed in the middle of each.
    """
    name = f"forget, kill -9 {killed}" if killed else "forget"
    users = tuple(f"{who} of {name}" for who in ("all", "talk", "fact", "others"))

    async def strike(flow: ChaosFlow) -> None:
        if killed:
            await asyncio.sleep(random.uniform(0, _SOON))  # noqa: S311 - no secret
            await flow.servers[killed].kill()

    async def heal(flow: ChaosFlow) -> None:
        if killed:
            await flow.servers[killed].start()

    async def forget(flow: ChaosFlow, load: Load, runs: Sequence[Run]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_everything(flow, load, runs, users[0]))
            group.create_task(_conversation(flow, load, runs, users[1]))
            group.create_task(_fact(load.client, runs, users[2]))

    def expected(_flow: ChaosFlow, runs: Sequence[Run]) -> Sequence[str]:
        missed = [who for who in users[:3] if not any(run.forgotten for run in _of(runs, who))]
        return [f"nothing was forgotten of {who}" for who in missed]

    return Fault(name, strike, heal, times, lasts, expected=expected, amid=forget, users=users)


def _of(runs: Sequence[Run], user: str) -> list[Run]:
    return [run for run in runs if run.scope.user == user]


async def _everything(flow: ChaosFlow, load: Load, runs: Sequence[Run], user: str) -> None:
    scope = Scope(user, "default")
    await _erased(flow, _of(runs, user), lambda: _commands(load.client, scope, everything=True))


async def _conversation(flow: ChaosFlow, load: Load, runs: Sequence[Run], user: str) -> None:
    """The conversation that was gone on with last, in which a run may be under way."""
    begun = [run for run in _of(runs, user) if run.begun]
    if not begun:
        return
    talk = begun[-1].conversation
    some = [run for run in _of(runs, user) if run.conversation == talk]
    scope = Scope(user, "default")
    await _erased(flow, some, lambda: _commands(load.client, scope, conversation_id=talk))


async def _erased(
    flow: ChaosFlow, runs: Sequence[Run], erase: Callable[[], Awaitable[None]]
) -> None:
    """Erase, and note which of the runs were said before; what is said meanwhile is unsure."""
    started = set(uses(flow.ledger, "look_up"))
    known = [run for run in runs if run.answer or run.name in started]
    before = {run.number for run in known}
    await erase()
    for run in runs:
        if run.number in before:
            run.forgotten = True
        elif run.begun:
            run.unsure = True


async def _commands(client: Client, scope: Scope, **selected: object) -> None:
    """Send the erasures of every service once, and wait for each answer, or until none comes."""
    await asyncio.gather(*(_command(client, call, scope, selected) for call in _ERASURES))


async def _command(
    client: Client,
    call: Call[EraseRequest, EraseResponse],
    scope: Scope,
    selected: Mapping[str, object],
) -> None:
    request = EraseRequest.model_validate({"user": scope.user, **selected})
    while True:
        try:
            await client.caller.call(call, request)
        except BusError:  # the broker may not have it
            await asyncio.sleep(_AGAIN)
        except FourtierError:  # it is on the bus, and nobody has answered in time
            return
        else:
            return


async def _fact(client: Client, runs: Sequence[Run], user: str) -> None:
    """The newest fact that is stored, as a person does: find it, forget it, or try again."""
    scope = Scope(user, "default")
    while any(run.stays and not run.problem for run in _of(runs, user)):
        try:
            stored = (await client.facts.list(scope, limit=1_000)).facts
            chosen = next((run for run in _stored(runs, user, stored)), None)
            if chosen is None:  # behind a replay it takes a while until the newest facts are stored
                await asyncio.sleep(_AGAIN)
                continue
            (fact,) = [each for each in stored if chosen.fact in each.content]
            # Until there is an answer nobody knows whether it is forgotten; there may never be one.
            chosen.unsure = True
            would = await client.forget.fact(scope, fact.id, dry_run=True)
            _unsure(runs, user, would)
            _unsure(runs, user, await client.forget.fact(scope, fact.id))
        except (FourtierError, BusError):
            await asyncio.sleep(_AGAIN)
        else:
            chosen.forgotten, chosen.unsure = True, False
            return


def _unsure(runs: Sequence[Run], user: str, forgotten: Forgotten) -> None:
    """Expect nothing of the runs whose prompt had the fact: their exchanges go with it."""
    gone = [each.content for each in forgotten.conversations.erased]
    for run in _of(runs, user):
        run.unsure = run.unsure or any(run.name in content for content in gone)


def _stored(runs: Sequence[Run], user: str, facts: Sequence[Fact]) -> list[Run]:
    """The answered runs whose fact is there, newest first."""
    contents = [fact.content for fact in facts]
    return [
        run
        for run in reversed(_of(runs, user))
        if run.answer and run.stays and any(run.fact in content for content in contents)
    ]
