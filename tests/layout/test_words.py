"""The field's own words: who searches for `heartbeat` finds it, and the old words stay away.

Each old word stands here with what took its place. Identifiers are searched for as they are, in
every file; prose is searched in comments, docstrings, messages and documents alike.
"""

import re
import subprocess
from pathlib import Path

import pytest

#: Old identifier to the word of the field.
IDENTIFIERS = {
    "Signs": "Heartbeats",
    "Silence": "HeartbeatTimeout",
    "greet": "handshake",
    "greeting": "handshake",
    "burial": "dead-letter queue",
    "bury": "dead-letter",
    "Surroundings": "ServiceContext",
    "surroundings": "context",
    "BusPlace": "BusConfig",
    "EnginePlace": "EngineConfig",
    "AdminPlace": "AdminConfig",
    "ModelPlace": "ModelEndpoint",
    "Patience": "Timeouts",
    "AwayError": "UnavailableError",
    "NoAnswerError": "DeadlineExceededError",
    "RefusedError": "PermanentError",
    "Overtaken": "conflict",
    "OvertakenError": "ConflictError",
    "again_when_overtaken": "retry_on_conflict",
    "Lanes": "KeyedExecutor",
    "side_by_side": "max_concurrency",
    "most_in_hand": "max_in_flight",
    "on_together": "on_batch",
    "answer_together": "answer_batch",
    "heard_by": "declared handlers",
    "deaf": "disconnected",
    "Keeping": "RetentionPolicy",
    "Kept": "StoreCount",
    "Keeper": "Service.store_counts",
    "unkept": "unpersisted",
    "RECEIVED_AHEAD": "PREFETCH",
    "told_plainly": "startup_errors",
    "upkeep": "periodic, maintenance",
    "moments": "timestamps",
    "Owned": "ScopedFact",
    "Told": "Triple",
    "Claim": "Triple",
    "HandlingSpan": "ProcessSpan",
}
#: Old phrase to how an engineer says it.
PHRASES = {
    r"signs? of life": "heartbeat",
    r"\bgiven up\b": "failed, dead-lettered",
    r"\bgiven out again\b": "redelivered",
    r"\bin hand\b": "in flight",
    r"\bside by side\b": "concurrently",
    r"\bside-by-side\b": "max-concurrency",
    r"\btold plainly\b": "said clearly",
    r"(?<!there )\bis no (?!longer\b|more\b|reason\b|use\b|need\b|point\b|way\b)[a-z]+": (
        "is not a ..."
    ),
    r"\bwho asks\b": "the caller",
    r"\bdead letters? box\b": "dead-letter queue",
    r"\bovertaken\b": "conflict",
    r"\blanes?\b": "keyed executor",
}
#: Words that an engineer looks for, each of which the product has.
FIELD = ("heartbeat", "handshake", "backpressure", "concurrency", "liveness", "dead-letter queue")
#: This list, what an earlier release wrote, and what people say in labelled data.
EXEMPT = (
    "tests/layout/test_words.py",
    "tests/data/",
    "schema/released/",
    "uv.lock",
    "LICENSE",
    "CHANGELOG.md",
)
TEXT = {".py", ".md", ".yaml", ".yml", ".toml", ".cypher", ".json"}


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [
        Path(name)
        for name in listed
        if Path(name).suffix in TEXT and not name.startswith(EXEMPT) and Path(name).exists()
    ]


FILES = {file: file.read_text("utf-8") for file in files()}


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{file}:{number}: {line.strip()}"
        for file, text in FILES.items()
        if pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(("old", "new"), IDENTIFIERS.items(), ids=IDENTIFIERS)
def test_an_old_name_stays_away(old: str, new: str) -> None:
    places = found(re.compile(rf"(?<![A-Za-z]){re.escape(old)}(?![A-Za-z])"))

    assert not places, f"{old} is {new} now"


@pytest.mark.parametrize(("old", "new"), PHRASES.items(), ids=PHRASES)
def test_an_old_phrase_stays_away(old: str, new: str) -> None:
    assert not found(re.compile(old, re.IGNORECASE)), f"say {new}"


@pytest.mark.parametrize("word", FIELD)
def test_the_word_of_the_field_is_found_in_code_and_documents(word: str) -> None:
    pattern = re.compile(word, re.IGNORECASE)

    assert [
        file for file, text in FILES.items() if file.parts[0] == "services" and pattern.search(text)
    ]
    assert [file for file, text in FILES.items() if file.suffix == ".md" and pattern.search(text)]
