"""Forgetting in the dead-letter queues too, where whole messages wait for an operator.

A replay of such a message would store nothing: the tombstones of the stores are older than what it
says. But until then its words are there, for as long as dead letters are stored.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourtier.client.forgetting import statements_of, texts_of
from fourtier.memory.tombstones.selection import Selection
from fourtier.operations.dead_letters import DeadLetter, remove_dead_letters
from fourtier.runtime.bus.contract import Bus
from fourtier.runtime.rpc import envelope
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.facts import Fact
from fourtier.schema.message import Scope
from fourtier.schema.visible import normal_name

#: Fields by which a message names its conversation, and what of it it is about.
_CONVERSATION = ("conversation_id", "source")
_NAMES = ("run_id", "invocation_id", "turn_id", "request_id", "episode_id", "fact_id")


@dataclass(frozen=True, slots=True)
class ForgottenLetters:
    """Dead letters that were removed, or would be.

    Attributes:
        unknown: those that stay because nothing tells whose they are.
    """

    removed: int = 0
    unknown: int = 0


def about_facts(scope: Scope, facts: Iterable[Fact], *more_ids: str) -> EraseRequest:
    """What names the facts, the exchanges in which they were said, and what repeats them."""
    known = list(facts)
    said = [each.invocation_id for each in statements_of(known) if each.invocation_id]
    ids = [*(fact.id for fact in known), *said]
    return EraseRequest(
        user=scope.user,
        collection=scope.collection,
        ids=tuple(dict.fromkeys([*ids, *more_ids])),
        containing=texts_of(known),
    )


async def forget_dead_letters(
    bus: Bus, services: Sequence[str], request: EraseRequest
) -> ForgottenLetters:
    """Remove the dead letters of services that are about what is to be forgotten.

    With `dry_run` they stay, and are counted.

    Raises:
        BusError: the bus failed.
    """
    found = await asyncio.gather(*(_forget(bus, service, request) for service in services))
    return ForgottenLetters(
        sum(each.removed for each in found), sum(each.unknown for each in found)
    )


async def _forget(bus: Bus, service: str, request: EraseRequest) -> ForgottenLetters:
    selection, unknown = Selection.of(request), 0

    def wanted(letter: DeadLetter) -> bool:
        nonlocal unknown
        content = _content(letter)
        whose = _scope(letter, content)
        if whose is None:
            selected = selection.fits(_raw(letter))
            unknown += not selected
            return selected
        return whose == request.scope and _is_selected(letter, content, selection)

    removed = await remove_dead_letters(bus, service, wanted=wanted, dry_run=request.dry_run)
    return ForgottenLetters(removed, unknown)


def _content(letter: DeadLetter) -> Mapping[str, Any]:
    """The fields of a message; none where it cannot be read."""
    try:
        content = json.loads(letter.payload)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _scope(letter: DeadLetter, content: Mapping[str, Any]) -> Scope | None:
    """Whose a message is: its properties say so, where its fields cannot be read."""
    user = content.get("user") or letter.properties.get(envelope.USER)
    collection = content.get("collection") or letter.properties.get(envelope.COLLECTION)
    if not user:
        return None
    names = str(user), str(collection or "default")
    try:
        return Scope(*map(normal_name, names))
    except ValueError:  # of a version that took every name
        return Scope(*names)


def _is_selected(letter: DeadLetter, content: Mapping[str, Any], selection: Selection) -> bool:
    names = {content[name] for name in _NAMES if isinstance(content.get(name), str)}
    if selection.everything or names & set(selection.ids):
        return True
    of_conversation = selection.conversation_id and selection.conversation_id in {
        content.get(name) for name in _CONVERSATION
    }
    if selection.document and content.get("document") == selection.document:
        return True
    wanted = set(selection.invocation_ids)
    if of_conversation and (not wanted or names & wanted):
        return True
    return selection.fits("\n".join([*_texts(content), _raw(letter)]))


def _raw(letter: DeadLetter) -> str:
    """All that stands in it, as it stands there; the reason may tell something too."""
    return f"{letter.payload.decode(errors='replace')}\n{letter.error}"


def _texts(value: Any) -> Iterable[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
