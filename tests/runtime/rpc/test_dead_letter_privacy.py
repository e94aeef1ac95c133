"""A dead letter has no more personal data than memory would have had of its message."""

import json

import pytest

from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import CallFailedError, PermanentError, PersonalDataError
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route
from tests.runtime.rpc.support import WRITE, Note, Reply, dead_letters, publish, served

IBAN, PASSWORD = "DE89 3704 0044 0532 0130 00", "my password is zq-hunter-77"
ADDRESS = Address(WRITE.topic.name)


async def fails(note: Note) -> Reply:
    raise PermanentError(f"cannot pay {IBAN}: call +47 22 12 34 56 about {note.key}")


async def rejects(_note: Note) -> Reply:
    raise PersonalDataError("this flow rejects it")


async def test_payload_and_reason_are_redacted_and_ids_are_not(bus: MemoryBus) -> None:
    message = {"key": f"{PASSWORD}", "number": 1, "user": IBAN, "more": {"text": [f"pay {IBAN}"]}}
    async with served(bus, call_route(WRITE, fails)):
        await bus.publish(ADDRESS, json.dumps(message).encode(), key="k", properties={"id": "1"})
        (letter,) = await dead_letters(bus, 1)

    assert json.loads(letter.payload) == {
        "key": "my password is [left out: credential]",
        "number": 1,
        "user": IBAN,
        "more": {"text": ["pay [left out: iban]"]},
    }
    reason = letter.properties["dead-error"]
    assert "cannot pay [left out: iban]: call [left out: telephone]" in reason


async def test_what_has_none_and_what_is_no_json_stays_byte_for_byte(bus: MemoryBus) -> None:
    whole, broken = b'{"key":  "tea",\t"number": 1}', b'{"key": "\xff, +47 22 12 34 56'
    async with served(bus, call_route(WRITE, fails)):
        for number, payload in enumerate((whole, broken)):
            await bus.publish(ADDRESS, payload, key="k", properties={"id": str(number)})
        letters = await dead_letters(bus, 2)
    assert sorted(letter.payload for letter in letters) == sorted([whole, broken])


async def test_what_is_no_json_is_redacted_too(bus: MemoryBus) -> None:
    async with served(bus, call_route(WRITE, fails)):
        await bus.publish(
            ADDRESS, f'{{"key": "{PASSWORD}'.encode(), key="k", properties={"id": "1"}
        )
        (letter,) = await dead_letters(bus, 1)
    assert letter.payload == b'{"key": "my password is [left out: credential]'


async def test_what_is_rejected_is_no_dead_letter(bus: MemoryBus) -> None:
    async with served(bus, call_route(WRITE, rejects)), open_caller(bus) as caller:
        with pytest.raises(CallFailedError, match="this flow rejects it") as rejected:
            await caller.call(WRITE, Note(key="k", number=1))
    async with served(bus, call_route(WRITE, fails)):
        await publish(bus, WRITE.topic, "later", 2)
        (letter,) = await dead_letters(bus, 1)  # the other would stand before it
    assert rejected.value.type == "personal-data"
    assert json.loads(letter.payload)["number"] == 2
