"""A flow that is sent garbage: whether its memory stays flat and its services answer.

    .venv/bin/python -m bench.fuzz [--messages 20000] [--seed 1] [--valid-too]

The flow is `fourtier up` with all services. Each message is an example of some topic's payload with
one to three things wrong with it: fields left out, values of other types, numbers of hundreds of
digits, deep nesting, long texts, bytes flipped or cut off, and properties that make no sense.
Those that are valid by luck are left out; with --valid-too they are sent, and what they store takes
memory. After every thousand the flow comes to rest, and its memory is read. It ends with 1 where
that grows by more than 32 MiB after the first quarter, or when the flow does not remember and
answer at the end.
"""

import argparse
import asyncio
import copy
import itertools
import json
import logging
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.deployments import embedded
from pydantic import BaseModel, ValidationError

from fourtier.client import client_on
from fourtier.runtime.bus.contract import Address, Bus
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from fourtier.runtime.rpc import envelope
from fourtier.schema.message import Scope
from fourtier.schema.topics import Topic
from tests.schema.snapshot import ReleasedExamples, present
from tests.support.declared import all_declared, topic_of
from tests.support.idle import memory_is_idle
from tests.support.model import Says, scripted_model
from tests.support.usage import resident_mib, usage_of

_A_ROUND, _AT_ONCE = 1_000, 50
_MAY_GROW_BY = 32
#: Seconds between two looks, and the share of a processor below which a flow is at rest.
_PAUSE, _AT_REST = 1.0, 0.1
_ODD: Sequence[Any] = (
    None,
    True,
    -1,
    10**400,
    1e308,
    "",
    "x" * 50_000,
    "\x00\u202e\U0001f600",
    "a" * 300 + "/../..",
    [],
    {},
    [[[[["deep"]]]]],
    list(range(1_000)),
    {"x" * 1_000: "y"},
)
_PROPERTIES = (envelope.REPLY_TO, envelope.TIMEOUT, envelope.SENT_AT, envelope.ID, envelope.CALL)


def fuzzed(chance: random.Random, example: Mapping[str, Any]) -> bytes:
    """An example with something wrong with it."""
    message: dict[str, Any] = json.loads(json.dumps(example))
    for _ in range(chance.randint(1, 3)):
        place = _somewhere(chance, message)
        if place and chance.random() < 0.3:
            del place[chance.choice(list(place))]
        else:
            name = chance.choice([*place, "unknown"])
            place[name] = copy.deepcopy(chance.choice(_ODD))
    return chance.choice(_AS_BYTES)(chance, json.dumps(message).encode())


def _somewhere(chance: random.Random, message: dict[str, Any]) -> dict[str, Any]:
    """The message itself, or an object in it."""
    inner = [each for each in message.values() if isinstance(each, dict)]
    inner += [
        each
        for value in message.values()
        if isinstance(value, list)
        for each in value
        if isinstance(each, dict)
    ]
    return chance.choice([message, *inner])


def _flipped(chance: random.Random, payload: bytes) -> bytes:
    changed = bytearray(payload)
    for _ in range(chance.randint(1, 5)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, payload: bytes) -> bytes:
    return payload[: chance.randrange(len(payload))]


def _nested(chance: random.Random, payload: bytes) -> bytes:
    depth = chance.choice([100, 10_000])
    return b"[" * depth + payload + b"]" * depth


def _as_it_is(_chance: random.Random, payload: bytes) -> bytes:
    return payload


#: Most are JSON still: what is none is rejected at the first look.
_AS_BYTES: Sequence[Callable[[random.Random, bytes], bytes]] = (
    *[_as_it_is] * 6,
    _flipped,
    _cut,
    _nested,
)


def properties(chance: random.Random) -> dict[str, str]:
    """None as a rule, or some that make no sense."""
    if chance.random() < 0.7:
        return {}
    texts = ("", "-1", "9" * 5_000, "\U0001f600", "inbox.", "facts.store", str(chance.random()))
    return {name: chance.choice(texts) for name in chance.sample(_PROPERTIES, 2)}


@dataclass(frozen=True)
class _Sender:
    """Sends fuzzed messages on all topics of the installed services."""

    bus: Bus
    chance: random.Random
    valid_too: bool
    topics: Sequence[Topic[Any]]
    examples: Mapping[str, ReleasedExamples]

    async def send(self, number: int) -> None:
        """So many messages, some at once."""
        for start in range(0, number, _AT_ONCE):
            some = range(start, min(start + _AT_ONCE, number))
            await asyncio.gather(*(self._send() for _ in some))

    async def _send(self) -> None:
        topic = self.chance.choice(self.topics)
        await self.bus.publish(
            Address(topic.name, persistent=topic.persistent),
            self._fuzzed(topic.payload),
            key=f"key {self.chance.randrange(7)}",
            properties=properties(self.chance),
        )

    def _fuzzed(self, model: type[BaseModel]) -> bytes:
        while True:
            payload = fuzzed(self.chance, self.examples[model.__name__].full)
            if self.valid_too or not _is_valid(model, payload):
                return payload


def _is_valid(model: type[BaseModel], payload: bytes) -> bool:
    try:
        model.model_validate_json(payload)
    except ValidationError:
        return False
    return True


async def _at_rest(pid: int) -> None:
    """Wait until a process has nothing to do."""
    used = usage_of(pid).cpu
    while True:
        await asyncio.sleep(_PAUSE)
        if (now := usage_of(pid).cpu) - used < _AT_REST * _PAUSE:
            return
        used = now


async def _fuzz(
    directory: Path, messages: int, chance: random.Random, *, valid_too: bool
) -> list[int]:
    """Send them; the flow's MiB after each round.

    Raises:
        AssertionError, FourtierError, SystemExit: it does not remember, or answer, any more.
    """
    resident: list[int] = []
    async with (
        scripted_model(script=lambda _request: Says("Still here.")) as model,
        embedded(directory, model.url) as flow,
        connect_pulsar(
            flow.bus_url,
            flow.tenant,
            flow.namespace,
            security=PulsarSecurity(flow.token),
            log_file="/dev/null",
        ) as bus,
        client_on(bus) as client,
    ):
        (pid,) = flow.processes()["fourtier up"]
        topics = [topic_of(each) for each in all_declared()]
        sender = _Sender(bus, chance, valid_too, topics, present().examples)
        for sent in itertools.count(_A_ROUND, _A_ROUND):
            await sender.send(_A_ROUND)
            await _at_rest(pid)
            model.requests.clear()
            resident.append(resident_mib(pid))
            print(f"{sent:7,} messages: {resident[-1]} MiB", flush=True)
            if sent >= messages:
                break
        await memory_is_idle(client)
        await client.facts.store(Scope("ann", "default"), "I live in Oslo")
        reply = await client.answer("Are you there?", user="ann")
        if reply.answer != "Still here.":
            raise SystemExit(f"the agent answers {reply.answer!r}")
    return resident


def main() -> int:
    """Read the arguments; 0 when memory was flat and the flow answered."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--valid-too", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="fourtier-fuzz-") as directory:
        resident = asyncio.run(
            _fuzz(
                Path(directory),
                arguments.messages,
                random.Random(arguments.seed),
                valid_too=arguments.valid_too,
            )
        )
    quarter = resident[: max(1, len(resident) // 4)]
    grew = max(resident) - max(quarter)
    print(f"all services answer; after the first quarter it grew by {grew} MiB")
    return int(grew > _MAY_GROW_BY)


if __name__ == "__main__":
    sys.exit(main())
