"""When a trace is condensed, and what the next prompt then shows of it.

The items of a run stay on disk word for word until it is discarded; condensing only decides which
steps are shown as `Condensed.text` instead. It happens when what is shown has grown past the
threshold: all steps but the latest are condensed, and then the trace may grow until it is past the
threshold again. So a long run is condensed now and then and not at every step, which matters where
a model does it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourtier.memory.working_memory.rule_compression import condense
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.working_memory import Trace, WorkingMemoryItem

#: The share of the threshold that the condensed part may take, and what it may take of a tiny one.
_SHARE = 0.5
_MIN_ROOM = 32
#: What one answer may hold: below the 5 MB of a message on the bus, also where each character takes
#: six bytes as JSON. Names of fields and punctuation of an item are counted too.
MAX_ANSWER_CHARACTERS = 800_000
_FRAME = 150

#: Within one step, by which the order does not hang on the clocks of two replicas.
_ORDER = {"thought": 0, "action": 1, "observation": 2, "answer": 3}


@dataclass(frozen=True, slots=True)
class Condensed:
    """The text that stands for all steps up to `through`; the first step has number 0."""

    text: str = ""
    through: int = -1


def in_order(items: Iterable[WorkingMemoryItem]) -> list[WorkingMemoryItem]:
    """Items as they happened: by step, and in a step thought, action, observation, answer."""
    return sorted(items, key=lambda item: (item.step, _ORDER[item.type], item.timestamp, item.id))


def shown(items: Sequence[WorkingMemoryItem], condensed: Condensed) -> Trace:
    """The trace of items in order as the next prompt shows it; the newest as far as they fit."""
    verbatim = [item for item in items if item.step > condensed.through]
    omitted = _too_many(verbatim)
    verbatim = verbatim[omitted:]
    tokens = count_tokens(condensed.text) + sum(count_tokens(item.content) for item in verbatim)
    return Trace(condensed=condensed.text, items=tuple(verbatim), omitted=omitted, tokens=tokens)


def _too_many(items: Sequence[WorkingMemoryItem]) -> int:
    """How many of the oldest items do not fit into one answer."""
    room = MAX_ANSWER_CHARACTERS
    for number, item in enumerate(reversed(items)):
        room -= characters_of(item)
        if number and room < 0:
            return len(items) - number
    return 0


def characters_of(item: WorkingMemoryItem) -> int:
    """About how many characters an item takes in an answer."""
    metadata = len(json.dumps(item.metadata)) if item.metadata else 0
    return _FRAME + len(item.id) + len(item.content) + metadata


def room_for(threshold: int) -> int:
    """How many tokens the condensed part of a trace may have."""
    return max(_MIN_ROOM, int(threshold * _SHARE))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be condensed now: all steps up to `through`, into `room` tokens."""

    through: int
    room: int


def resolved(
    items: Sequence[WorkingMemoryItem], condensed: Condensed, threshold: int, keep_last: int
) -> tuple[Condensed, Plan | None]:
    """The condensed part as it may stay, and what to do where the trace is too long with it."""
    steps = sorted({item.step for item in items})
    older = steps[:-keep_last]
    through = older[-1] if older else -1
    if condensed.through > through:  # more steps are to stay word for word than before
        condensed = Condensed()
    room = room_for(threshold)
    done = through == condensed.through and count_tokens(condensed.text) <= room
    if done or shown(items, condensed).tokens <= threshold:
        return condensed, None
    return condensed, Plan(through, room)


def by_rule(items: Sequence[WorkingMemoryItem], plan: Plan) -> Condensed:
    """Condense without a model.

    Made from the items and not from the former text: what was cut twice is short of more than it
    must be.
    """
    older = [item for item in items if item.step <= plan.through]
    return Condensed(condense(older, plan.room), plan.through)
