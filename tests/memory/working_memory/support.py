"""Steps of runs, and the calls that many tests make."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    DISCARD_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    DiscardWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    GetWorkingMemoryResponse,
    Trace,
    WorkingMemoryItem,
)

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
Kind = Literal["thought", "action", "observation", "answer"]


def item(step: int, kind: Kind, content: str) -> WorkingMemoryItem:
    return WorkingMemoryItem(
        id=f"r1/{step}/{kind}",
        step=step,
        type=kind,
        content=content,
        timestamp=START + timedelta(seconds=step),
        metadata={"tool": "search"},
    )


def step(number: int, observation: str | None = None) -> list[WorkingMemoryItem]:
    """A whole step; what it found out depends on its number."""
    return [
        item(
            number, "thought", f"Before I compare offer {number} with the others I ask its price."
        ),
        item(number, "action", f'search({{"offer": {number}}})'),
        item(number, "observation", observation or f"It costs {found(number)} dollars."),
    ]


def found(number: int) -> str:
    """A number that stands for nothing else."""
    return f"{number + 1},{700 + number}.50"


def steps(first: int, beyond: int) -> list[WorkingMemoryItem]:
    return [each for number in range(first, beyond) for each in step(number)]


async def append(
    caller: Caller,
    items: list[WorkingMemoryItem],
    *,
    threshold: int = 2_000,
    keep_last: int = 2,
    run_id: str = "r1",
    user: str = "ann",
    collection: str = "default",
) -> Trace:
    answered = await caller.call(
        APPEND_WORKING_MEMORY,
        AppendWorkingMemoryRequest(
            user=user,
            collection=collection,
            run_id=run_id,
            items=tuple(items),
            threshold=threshold,
            keep_last=keep_last,
        ),
    )
    return answered.trace


async def get(
    caller: Caller,
    *,
    full: bool = False,
    run_id: str = "r1",
    user: str = "ann",
    collection: str = "default",
) -> GetWorkingMemoryResponse:
    return await caller.call(
        GET_WORKING_MEMORY,
        GetWorkingMemoryRequest(user=user, collection=collection, run_id=run_id, full=full),
    )


async def discard(caller: Caller, *, run_id: str = "r1", user: str = "ann") -> int:
    answered = await caller.call(
        DISCARD_WORKING_MEMORY, DiscardWorkingMemoryRequest(user=user, run_id=run_id)
    )
    return answered.discarded
