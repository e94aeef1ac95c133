"""`fourtier dead-letters delete`: what is named goes, and what is not stays."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from fourtier.interfaces.cli.output import counted
from fourtier.operations.dead_letters import list_dead_letters
from fourtier.runtime.rpc.dead_letter_queue import dead_letter_address
from tests.interfaces.cli.support import Command

DAY = 86_400
#: Service, id, reason and age in days.
LETTERS = [
    ("facts", "f-new", "permanent: no", 0),
    ("facts", "f-bad", "malformed: is not a valid StoreFactRequest", 0),
    ("facts", "f-old", "permanent: no", 40),
    ("episodes", "e-bad-old", "malformed: is not a valid StoreEpisodeRequest", 40),
]


@pytest.fixture
def left(fourtier: Command) -> "Left":
    """Dead letters of two services."""
    return Left(fourtier)


class Left:
    """Puts dead letters there; which are left is what it is called for."""

    def __init__(self, fourtier: Command) -> None:
        self._bus = fourtier.bus
        asyncio.run(self._publish())

    async def _publish(self) -> None:
        for service, identity, reason, days in LETTERS:
            await self._bus.create_group(dead_letter_address(service), "operator")
            properties = {
                "id": identity,
                "dead-topic": f"{service}.store",
                "dead-error": reason,
                "dead-at": str(int((time.time() - days * DAY) * 1000)),
            }
            await self._bus.publish(dead_letter_address(service), b"{}", properties=properties)

    def __call__(self) -> list[str]:
        return [
            letter.id
            for service in ("facts", "episodes")
            for letter in asyncio.run(list_dead_letters(self._bus, service))
        ]


EVERY = ["f-new", "f-bad", "f-old", "e-bad-old"]


@pytest.mark.parametrize(
    ("options", "stay"),
    [
        (["--service", "facts"], ["e-bad-old"]),
        (["--id", "f-new"], ["f-bad", "f-old", "e-bad-old"]),
        (["--id", "f-new", "--id", "e-bad-old"], ["f-bad", "f-old"]),
        (["--malformed"], ["f-new", "f-old"]),
        (["--older-than", "30"], ["f-new", "f-bad"]),
        (["--older-than", "0.5", "--malformed"], ["f-new", "f-bad", "f-old"]),
        (["--malformed", "--service", "facts"], ["f-new", "f-old", "e-bad-old"]),
        (["--all"], []),
    ],
    ids=" ".join,
)
def test_only_what_all_options_fit_is_deleted(
    fourtier: Command, left: Left, options: Sequence[str], stay: list[str]
) -> None:
    assert fourtier("dead-letters", "delete", *options, "--dry-run") == 0
    number = counted(4 - len(stay), "dead letter")
    assert f"{number} would be deleted." in fourtier.said
    assert left() == EVERY
    assert fourtier("dead-letters", "delete", *options, "--yes") == 0
    assert f"{number} deleted." in fourtier.said
    assert left() == stay


def test_who_says_no_keeps_every_dead_letter(fourtier: Command, left: Left) -> None:
    assert fourtier("dead-letters", "delete", "--all", stdin=b"n\n") == 1
    assert "facts: 3 dead letters episodes: 1 dead letter Delete for good?" in fourtier.said
    assert left() == EVERY
    assert fourtier("dead-letters", "delete", "--all", stdin=b"y\n") == 0
    assert left() == []


def test_an_id_that_is_not_there_is_an_error(fourtier: Command, left: Left) -> None:
    assert fourtier("dead-letters", "delete", "--id", "f-gone", "--yes") == 1
    assert "There are no such dead letters." in fourtier.said
    assert left() == EVERY


def test_nothing_to_delete_is_no_error(fourtier: Command, left: Left) -> None:
    assert fourtier("dead-letters", "delete", "--older-than", "400", "--yes") == 0
    assert "There are no such dead letters." in fourtier.said
    assert left() == EVERY


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "name --all, or any of"),
        (["--yes"], "name --all, or any of"),
        (["--all", "--malformed"], "name --all, or any of"),
        (["--service", "fakts"], "no service 'fakts'"),
        (["--older-than", "-1"], "--older-than"),
    ],
)
def test_what_does_not_say_what_to_delete_deletes_nothing(
    fourtier: Command, left: Left, options: Sequence[str], said: str
) -> None:
    assert fourtier("dead-letters", "delete", *options) == 2
    assert said in fourtier.said
    assert left() == EVERY


def test_what_comes_while_somebody_reads_the_question_stays(
    fourtier: Command, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirm(_text: str, *, abort: bool) -> bool:
        late = {"id": "late", "dead-error": "permanent: no", "dead-topic": "facts.store"}
        queue = dead_letter_address("facts")
        asyncio.run(fourtier.bus.publish(queue, b"{}", properties=late))
        return abort

    monkeypatch.setattr("typer.confirm", confirm)
    assert fourtier("dead-letters", "delete", "--all") == 0
    assert left() == ["late"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (1_500, "1500 entries")],
)
def test_a_number_has_its_noun_in_the_right_form(number: int, said: str) -> None:
    assert counted(number, "entry", "entries") == said
    assert counted(number, "round") == said.replace("entry", "round").replace("entries", "rounds")


def test_a_replay_says_what_was_sent_again_or_that_there_was_nothing(
    left: Left, fourtier: Command
) -> None:
    assert fourtier("dead-letters", "replay") == 0
    assert "facts: 3 sent again episodes: 1 sent again" in fourtier.said
    assert left() == []
    assert fourtier("dead-letters", "replay") == 0
    assert "There are no dead letters." in fourtier.said
