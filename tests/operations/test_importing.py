"""Past dialogue: what a line becomes, bad lines, and a bus that goes away in the middle."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import stamina

from fourtier.client import client_on
from fourtier.operations.importing import (
    BadLine,
    ImportInterruptedError,
    ImportResult,
    import_turns,
    read_turns,
)
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.message import Scope
from tests.interfaces.cli.support import Command
from tests.runtime.rpc.support import FailingBus
from tests.support.listening import listening

TOPIC = DIALOGUE_RECORDED.name
TURN = {
    "conversation_id": "c1",
    "user": "ann",
    "speaker": "Ann",
    "timestamp": "2026-03-01T10:00:00+00:00",
    "content": "I live in Oslo.",
}


@pytest.fixture(autouse=True)
def without_pauses() -> Generator[None]:
    """Retries follow at once; their number stays."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


def line(**changes: Any) -> bytes:
    return json.dumps(TURN | changes).encode() + b"\n"


def turns(*lines: bytes) -> list[DialogueTurn]:
    read = [each for _, each in read_turns(lines)]
    assert not any(isinstance(each, BadLine) for each in read), read
    return [each for each in read if isinstance(each, DialogueTurn)]


def test_the_same_words_at_the_same_time_are_two_turns() -> None:
    first, second, other = turns(line(), line(), line(content="I moved."))
    assert len({first.turn_id, second.turn_id, other.turn_id}) == 3
    assert first.turn_id.endswith("-1")
    assert second.turn_id == f"{first.turn_id[:-1]}2"


def test_a_file_that_is_read_again_has_the_same_ids() -> None:
    lines = (line(), line(), line(content="I moved."), line(turn_id="mine"))
    assert [turn.turn_id for turn in turns(*lines)] == [turn.turn_id for turn in turns(*lines)]
    assert turns(*lines)[-1].turn_id == "mine"


def test_a_line_that_names_no_user_is_of_whoever_imports_it() -> None:
    unnamed = {name: value for name, value in TURN.items() if name != "user"}
    lines = [line(), json.dumps(unnamed).encode(), json.dumps(unnamed | {"user": ""}).encode()]
    read = [each for _, each in read_turns(lines, Scope("bob", "work"))]
    assert [each.scope for each in read[:2] if isinstance(each, DialogueTurn)] == [
        Scope("ann", "default"),
        Scope("bob", "work"),
    ]
    assert isinstance(read[2], BadLine), "an empty name is a mistake"
    (alone,) = [each for _, each in read_turns(lines[1:2])]
    assert alone == BadLine(1, "user: Field required")


def test_a_byte_order_mark_is_left_out() -> None:
    (marked,), (plain,) = turns(b"\xef\xbb\xbf" + line()), turns(line())
    assert marked == plain


def test_a_line_that_is_not_utf8_is_bad_and_the_others_are_read() -> None:
    read = list(read_turns([line(), b'{"user": "\xff"}\n', b"\n", line(content="I moved.")]))
    assert [number for number, _ in read] == [1, 2, 4]
    assert read[1][1] == BadLine(2, "is not UTF-8 text")
    assert isinstance(read[2][1], DialogueTurn)


async def test_every_good_line_is_sent_and_bad_ones_are_counted() -> None:
    bus = FailingBus()
    seen: list[int] = []
    async with client_on(bus) as client, listening(bus, DIALOGUE_RECORDED) as received:
        lines = [line(content=f"number {number}") for number in range(200)]
        bad = [b"no\n"] * 150

        def progress(now: ImportResult) -> None:
            seen.append(now.sent + now.bad)

        result = await import_turns(client, [*bad, *lines], progress)
        sent = {turn.content for turn in await received.take(200)}
    assert (result.sent, result.bad, len(result.reported)) == (200, 150, 100)
    assert sent == {f"number {number}" for number in range(200)}
    assert seen == list(range(1, 351))


async def test_a_bus_that_fails_for_a_moment_loses_no_line() -> None:
    bus = FailingBus()
    bus.fails[TOPIC] = 4
    async with client_on(bus) as client, listening(bus, DIALOGUE_RECORDED) as received:
        result = await import_turns(client, [line()])
        await received.take(1)
    assert result.sent == 1
    assert bus.published.count(TOPIC) == 5


async def test_a_line_that_the_bus_never_takes_is_sent_once() -> None:
    bus = FailingBus()
    bus.max_sizes[TOPIC] = 10
    async with client_on(bus) as client:
        with pytest.raises(ImportInterruptedError):
            await import_turns(client, [line()])
    assert bus.published.count(TOPIC) == 1


async def test_a_bus_that_stays_away_interrupts_the_import_with_the_number_of_lines() -> None:
    bus = FailingBus()
    async with client_on(bus) as client, listening(bus, DIALOGUE_RECORDED):

        def progress(now: ImportResult) -> None:
            if now.sent == 3:
                bus.fails[TOPIC] = 1_000_000

        lines = [line(content=f"number {number}") for number in range(500)]
        with pytest.raises(ImportInterruptedError, match="Import the same file again") as raised:
            await import_turns(client, lines, progress)
    assert 3 <= raised.value.sent < 500
    assert f"after {raised.value.sent} messages" in str(raised.value)


@pytest.fixture
def fourtier(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_the_command_says_how_to_go_on_and_exits_with_1(fourtier: Command, tmp_path: Path) -> None:
    file = tmp_path / "dialogue.jsonl"
    file.write_bytes(line() * 3)
    fourtier.bus.fails[TOPIC] = 1_000_000
    assert fourtier("import", str(file)) == 1
    assert "the import was interrupted after 0 messages" in fourtier.said
    assert "what was sent already is not doubled" in fourtier.said


def test_the_command_says_nothing_of_a_retry_that_helps(
    fourtier: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "dialogue.jsonl"
    file.write_bytes(line())
    fourtier.bus.fails[TOPIC] = 2
    assert fourtier("import", str(file)) == 0
    assert fourtier.bus.published.count(TOPIC) == 3
    assert "stamina" not in caplog.text + fourtier.err


def test_the_command_names_bad_lines_and_imports_the_rest(fourtier: Command) -> None:
    lines = b"\xef\xbb\xbf" + line() + b"\xff\xfe\n" + line(timestamp="yesterday") + line()
    assert fourtier("import", "-", stdin=lines) == 1
    assert "2 messages imported, 2 bad lines." in fourtier.out
    assert "line 2: is not UTF-8 text" in fourtier.err
    assert "line 3: timestamp:" in fourtier.err
    assert fourtier.bus.published.count(TOPIC) == 2
