"""The messages stay compatible with those of the last release, and the check that says so."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import Field, create_model

from fourtier.schema.message import Message
from fourtier.schema.topics import Call, Topic
from tests.schema import release
from tests.schema.compatibility import incompatible
from tests.schema.snapshot import Declared, as_text, last_released, present, snapshot


def test_the_present_messages_are_compatible_with_the_last_release() -> None:
    broken = incompatible(last_released(), present())
    advice = (
        "Old and new replicas run at one time: see `Messages change compatibly` in CONTRIBUTING."
    )
    assert not broken, "\n".join([*broken, advice])


def test_the_file_is_the_same_each_time_it_is_written() -> None:
    assert as_text(present()) == as_text(present())
    assert as_text(last_released()) == as_text(last_released())


class Part(Message):
    title: str
    size: int = Field(default=1, ge=0, le=100)


class Note(Message):
    text: str = Field(min_length=1, max_length=100)
    kind: Literal["short", "long"] = "short"
    parts: tuple[Part, ...] = ()
    best: Part | None = None
    about: dict[str, str] = Field(default={})
    weight: float | None = None


class Reply(Message):
    done: bool


NOTED = Topic("noted", Note, key=lambda note: note.text)
ASK = Call(Topic("notes.ask", Note), Reply)


def changes(*declared: Declared) -> list[str]:
    return incompatible(snapshot([NOTED, ASK]), snapshot(declared))


def noted(**fields: Any) -> list[str]:
    """What is found when a note has these fields instead of its own; None takes one away."""
    every = {name: (info.annotation, info) for name, info in Note.model_fields.items()} | fields
    retained = {name: field for name, field in every.items() if field is not None}
    changed = create_model("Note", __base__=Message, **retained)
    return changes(Topic("noted", changed, key=lambda _: "text"), ASK)


def part(**fields: Any) -> tuple[Any, Any]:
    """A list of parts that have these fields."""
    return tuple[create_model("Part", __base__=Message, **fields), ...], ()


TITLE, SIZE = (str, ...), (int, Field(default=1, ge=0, le=100))


def test_nothing_changed() -> None:
    assert changes(NOTED, ASK) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"language": (str, "en")},
        {"language": (str | None, None)},
        {"kind": (Literal["short", "long", "endless"], "short")},
        {"kind": (Literal["long", "short"], "long")},
        {"text": (str, Field(max_length=200))},
        {"text": (str, Field(default="", min_length=1, max_length=100, description="other words"))},
        {"parts": part(title=TITLE, size=SIZE, colour=(str, ""))},
    ],
    ids=str,
)
def test_what_may_change(fields: dict[str, Any]) -> None:
    assert noted(**fields) == []


def test_new_topics_and_other_names_of_models_may_come() -> None:
    renamed = create_model("Remark", __base__=Note)
    other = Topic("noted", renamed, key=lambda note: note.text)
    assert changes(other, ASK, Topic("more", Part)) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": None, "words": (str, "")}, "Note.text is gone or has another name."),
        ({"text": (int, 1)}, "Note.text changed its type from string to integer."),
        ({"language": (str, ...)}, "Note.language is new and required."),
        ({"about": (dict[str, str], ...)}, "Note.about became required."),
        ({"kind": (Literal["long"], "long")}, "Note.kind no longer knows 'short'."),
        ({"text": (Literal["yes"], "yes")}, "Note.text takes only yes now."),
        (
            {"text": (str, Field(min_length=1, max_length=50))},
            "Note.text takes less than before: maxLength 50, it was 100.",
        ),
        (
            {"text": (str, Field(min_length=2, max_length=100))},
            "Note.text takes less than before: minLength 2, it was 1.",
        ),
        (
            {"text": (str | None, ...)},
            "Note.text changed its type from string to string or nothing.",
        ),
        (
            {"weight": (float, 1.0)},
            "Note.weight changed its type from number or nothing to number.",
        ),
        (
            {"weight": (int | None, None)},
            "Note.weight changed its type from number or nothing to integer or nothing.",
        ),
        (
            {"about": (dict[str, int], {})},
            "Note.about changed its type from mapping to string to mapping to integer.",
        ),
        (
            {"parts": (tuple[str, ...], ())},
            "Note.parts changed its type from list of model to list of string.",
        ),
        ({"parts": part(size=SIZE)}, "Part.title is gone or has another name."),
        (
            {"parts": part(title=TITLE, size=(str, ""))},
            "Part.size changed its type from integer to string.",
        ),
        (
            {"parts": part(title=TITLE, size=(int, Field(default=1, ge=0, le=9)))},
            "Part.size takes less than before: maximum 9, it was 100.",
        ),
    ],
)
def test_what_breaks_is_told_with_message_and_field(fields: dict[str, Any], said: str) -> None:
    assert noted(**fields) == [said]


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        (Topic("written", Note), "The topic noted is gone or has another name."),
        (
            Topic("noted", Note, key=lambda note: note.text, persistent=False),
            "The topic noted is no longer kept by the broker.",
        ),
        (Topic("noted", Note), "The topic noted has the key None where it had 'text'."),
        (
            Topic("noted", Note, key=lambda note: note.kind),
            "The topic noted has the key 'short' where it had 'text'.",
        ),
        (Call(NOTED, Reply), "The topic noted is answered in another way."),
    ],
)
def test_what_breaks_a_topic_is_told(topic: Declared, said: str) -> None:
    assert changes(topic, ASK) == [said]


def test_answers_are_compared_too() -> None:
    reported = create_model("Reply", __base__=Message, finished=(bool, ...))
    assert changes(NOTED, Call(ASK.topic, reported)) == [
        "Reply.done is gone or has another name.",
        "Reply.finished is new and required.",
    ]
    streamed = Call(ASK.topic, Reply, last=lambda reply: reply.done)
    assert changes(NOTED, streamed) == ["The topic notes.ask is answered in another way."]


@pytest.fixture
def place(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """A directory to release in; the version in it can be set."""
    directory = tmp_path_factory.mktemp("release")
    (directory / "schema").mkdir()
    monkeypatch.chdir(directory)

    def version(number: str) -> None:
        (directory / "pyproject.toml").write_text(f'[project]\nversion = "{number}"\n')

    return version


def test_a_release_writes_the_file_once(
    place: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    place("1.0.0")
    assert release.main([]) == 0
    assert last_released() == present("1.0.0")
    assert release.main([]) == 1
    assert "raise the version" in capsys.readouterr().err
    assert release.main(["--again"]) == 0
    place("1.10.0")
    assert release.main([]) == 0
    place("1.9.0")
    assert release.main([]) == 0
    assert last_released().version == "1.10.0"


def test_a_release_that_breaks_the_last_one_is_rejected(
    place: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place("1.0.0")
    monkeypatch.setattr(release, "present", lambda version="": snapshot([NOTED], version))
    assert release.main([]) == 0
    place("2.0.0")
    monkeypatch.setattr(release, "present", lambda version="": snapshot([ASK], version))
    assert release.main([]) == 1
    assert "The topic noted is gone" in capsys.readouterr().err
