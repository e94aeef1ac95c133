"""The labelled pairs of statements that the detection of contradictions is trained on."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fastembed import TextEmbedding

from fourtier.memory.facts.graph import ScopedFact
from fourtier.models.embeddings import bundled
from fourtier.models.embeddings.loading import load_model
from fourtier.schema.message import Scope
from tests.support.supersession import DIALOGUES, Dialogue, dialogues, facts_of, is_pair

PAIRS = DIALOGUES.parent / "contradictions"
#: Dialogues that were used to work on the rules. `third` chooses the threshold, `fourth` reports.
SETS = ("first", "second", "classes")
#: Of twenty pairs in a row the last two are held out: families of one older statement stay whole.
_RUN, _TRAINED = 20, 18
#: So many pairs get one more beside them, of statements of two scenes.
_UNRELATED_ONE_IN = 4
#: Of what a person says, as many statements before each are compared with it.
_NEIGHBOURS = 2
_SCOPE = Scope("ann", "default")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Two statements, and whether the newer one leaves the older one untrue."""

    old: str
    new: str
    replaces: bool


def written_pairs() -> tuple[list[Labelled], list[Labelled]]:
    """What is in tests/data/contradictions: pairs to train on, and those held out."""
    trained: list[Labelled] = []
    held_out: list[Labelled] = []
    for path in sorted(PAIRS.glob("*.jsonl")):
        pairs = list(_read(path))
        for whole, part in zip((trained, held_out), _split(pairs), strict=True):
            whole += [*part, *_unrelated(part)]
    return trained, held_out


def _read(path: Path) -> Iterator[Labelled]:
    """A line has a pair, a scene of several, or a person whose statements all hold."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if "statements" in row:
            yield from _all_true(row["statements"])
        elif "old" in row:
            yield Labelled(row["old"], row["new"], row["label"] == "replaces")
        else:
            yield from (Labelled(old, row["new"], replaces=True) for old in row["replaces"])
            yield from (Labelled(old, row["new"], replaces=False) for old in row["holds"])


def _all_true(statements: Sequence[str]) -> Iterator[Labelled]:
    """Each statement with those before it that are most like it, as the product compares them."""
    vectors = np.array(list(_embedder().embed(list(statements))))
    cosines = vectors @ vectors.T
    for number in range(1, len(statements)):
        for other in np.argsort(-cosines[number, :number])[:_NEIGHBOURS]:
            yield Labelled(statements[other], statements[number], replaces=False)


@cache
def _embedder() -> TextEmbedding:
    return load_model(bundled.NAME)


def _split(pairs: Sequence[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    trained = [each for number, each in enumerate(pairs) if number % _RUN < _TRAINED]
    return trained, [each for number, each in enumerate(pairs) if number % _RUN >= _TRAINED]


def _unrelated(pairs: Sequence[Labelled]) -> Iterator[Labelled]:
    """Statements that have nothing to do with each other: an older one beside another's newer."""
    for number in range(0, len(pairs), _UNRELATED_ONE_IN):
        other = pairs[(number + len(pairs) // 2) % len(pairs)]
        yield Labelled(pairs[number].old, other.new, replaces=False)


async def dialogue_pairs() -> list[Labelled]:
    """The pairs of facts in the dialogues that the rules were made with."""
    return [pair for name in SETS for each in dialogues(name) for pair in await _pairs(each)]


async def _pairs(dialogue: Dialogue) -> list[Labelled]:
    """Each fact with those said after it, until one closes it."""
    turns = [await facts_of(_SCOPE, turn, number) for number, turn in enumerate(dialogue.turns)]
    pairs: list[Labelled] = []
    for number, said in enumerate(turns):
        for old in said:
            pairs += _until_closed(dialogue, old, turns[number + 1 :])
    return pairs


def _until_closed(
    dialogue: Dialogue, old: ScopedFact, later: list[list[ScopedFact]]
) -> Iterator[Labelled]:
    for turn in later:
        closing = False
        for new in turn:
            if new.fact.speaker == old.fact.speaker and new.fact.content != old.fact.content:
                closes = any(is_pair(each, old.fact, new.fact) for each in dialogue.closed)
                closing |= closes
                yield Labelled(old.fact.content, new.fact.content, closes)
        if closing:
            return
