"""The field's own words: who searches for `heartbeat` finds it, and the old words stay away.

Each old word stands here with what took its place. Three lists: what no name may have as a part,
whether it is written `KeptNote`, `kept_note` or `kept-note`; words that do not stand in sentences
either; phrases. What the field itself calls so is excepted, one by one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.layout.names import files, names, parts

#: Part of a name to the word of the field.
NAMES = {
    "silence": "heartbeat timeout",
    "bus place": "BusConfig",
    "engine place": "EngineConfig",
    "admin place": "AdminConfig",
    "model place": "ModelEndpoint",
    "away error": "UnavailableError",
    "no answer error": "DeadlineExceededError",
    "side by side": "max_concurrency",
    "most in hand": "max_in_flight",
    "most": "max",
    "on together": "on_batch",
    "answer together": "answer_batch",
    "heard": "received, seen",
    "heard by": "declared handlers",
    "keeping": "RetentionPolicy, or what it does",
    "kept": "stored, retained, left",
    "keeper": "Service.store_counts",
    "received ahead": "PREFETCH",
    "told": "delivered, announced, said: what it is",
    "told plainly": "startup_errors",
    "moment": "time",
    "moments": "timestamps",
    "owned": "ScopedFact",
    "handling span": "ProcessSpan",
    "again when": "retry_on_conflict",
}
#: Word to the word of the field, in names and in sentences.
WORDS = {
    "signs": "heartbeats",
    "greet": "handshake",
    "greeting": "handshake",
    "burial": "dead-letter queue",
    "bury": "dead-letter",
    "surroundings": "context",
    "patience": "timeout",
    "overtaken": "conflict",
    "lane": "keyed executor",
    "lanes": "keyed executor",
    "deaf": "disconnected",
    "unkept": "unpersisted",
    "upkeep": "periodic, maintenance",
    "refuse": "reject",
    "refused": "rejected",
    "refuses": "rejects",
    "refusing": "rejecting",
    "refusal": "rejection",
    "claim": "write, match, name",
    "claims": "writes, matches, names",
    "claimed": "written",
    "claiming": "writing",
    "settle": "resolve",
    "settled": "resolved",
    "settles": "resolves, finishes",
    "settling": "resolving",
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
    r"(?<!there )\b(?:are|were) no (?!longer\b|more than\b|larger\b|higher\b)[a-z]+": "are not ...",
    r"\bwho asks\b": "the caller",
    r"\bwhat (?:is|was) kept\b": "what is stored, the checkpoint, stored messages",
    r"\bdead letters? box\b": "dead-letter queue",
}
#: Where the word is the field's own, or somebody else's: file or folder, word, and why it stays.
EXCEPTIONS = {
    ("k8s/", "claim"): "PersistentVolumeClaim of Kubernetes",
    ("tests/operations/doctor/", "refused"): "ConnectionRefusedError of Python",
    ("services/fourtier/agents/react_mem/prompts/", "claim"): "what a model must not say it knows",
    ("services/fourtier/agents/react_mem/prompts/", "claims"): "what quoted material says it is",
    ("services/fourtier/memory/working_memory/rule_compression.py", "most"): "Counter.most_common",
    ("tests/runtime/privacy/test_policy.py", "refuse"): "a value that a flow file cannot have",
    # What people say: vocabulary that statements are read by, and texts that tests read.
    ("services/fourtier/memory/facts/", "settled"): "vocabulary",
    ("services/fourtier/memory/facts/", "refused"): "vocabulary",
    ("services/fourtier/memory/statements/", "greeting"): "a kind of sentence: 'Hello.'",
    ("services/fourtier/models/text/", "patience"): "vocabulary",
    ("services/fourtier/models/text/", "signs"): "characters",
    ("tests/memory/facts/", "patience"): "what somebody says",
}
#: Words that an engineer looks for, each of which the product has.
FIELD = ("heartbeat", "handshake", "backpressure", "concurrency", "liveness", "dead-letter queue")
#: This list, what an earlier release wrote, and what people say in labelled data.
EXEMPT = ("tests/layout/test_words.py", "tests/data/", "schema/released/", "uv.lock", "LICENSE")

Places = Mapping[str, Sequence[tuple[Path, int]]]
FILES = files(EXEMPT)
#: Files and lines of each name, and of each line of text.
ALL_NAMES = defaultdict[str, list[tuple[Path, int]]](list)
ALL_LINES = defaultdict[str, list[tuple[Path, int]]](list)
for _path, _text in FILES.items():
    for _line, _name in names(_path, _text):
        ALL_NAMES[_name].append((_path, _line))
    for _line, _content in enumerate(_text.splitlines(), 1):
        ALL_LINES[_content].append((_path, _line))
PARTS = {text: parts(text) for text in (*ALL_NAMES, *ALL_LINES)}


def is_excepted(path: Path, word: str) -> bool:
    return any(str(path).startswith(start) and word == each for start, each in EXCEPTIONS)


def places(texts: Iterable[str], among: Places, word: str = "") -> list[str]:
    """Where the texts stand, but for where the word is excepted."""
    return [
        f"{path}:{line}: {text.strip()}"
        for text in texts
        for path, line in among[text]
        if not is_excepted(path, word)
    ]


@pytest.mark.parametrize(("old", "new"), (NAMES | WORDS).items(), ids=NAMES | WORDS)
def test_no_name_has_an_old_word(old: str, new: str) -> None:
    named = [name for name in ALL_NAMES if f" {old} " in f" {' '.join(PARTS[name])} "]

    assert not places(named, ALL_NAMES, old), f"{old} is {new} now"


@pytest.mark.parametrize(("old", "new"), WORDS.items(), ids=WORDS)
def test_no_sentence_has_an_old_word(old: str, new: str) -> None:
    lines = [line for line in ALL_LINES if old in PARTS[line]]

    assert not places(lines, ALL_LINES, old), f"say {new}"


@pytest.mark.parametrize(("old", "new"), PHRASES.items(), ids=PHRASES)
def test_an_old_phrase_stays_away(old: str, new: str) -> None:
    pattern = re.compile(old, re.IGNORECASE)

    assert not places(filter(pattern.search, ALL_LINES), ALL_LINES), f"say {new}"


@pytest.mark.parametrize(("start", "word"), EXCEPTIONS, ids=" ".join)
def test_an_exception_is_needed(start: str, word: str) -> None:
    lines = [line for line in ALL_LINES if word in PARTS[line]]

    assert [path for line in lines for path, _ in ALL_LINES[line] if str(path).startswith(start)]


@pytest.mark.parametrize("word", FIELD)
def test_the_word_of_the_field_is_found_in_code_and_documents(word: str) -> None:
    pattern = re.compile(word, re.IGNORECASE)

    assert [
        file for file, text in FILES.items() if file.parts[0] == "services" and pattern.search(text)
    ]
    assert [file for file, text in FILES.items() if file.suffix == ".md" and pattern.search(text)]


@pytest.mark.parametrize(
    "name", ["KeptNote", "MemoKeeping", "kept_note", "kept-notes", "_KEPT", "keptNotes", "HTTPKept"]
)
def test_a_name_is_read_by_its_parts_whatever_its_style(name: str) -> None:
    assert {"kept", "keeping"} & set(parts(name))
