"""What `fourtier forget --matching` and the tool `forget` show: how much of it is about the query.

    .venv/bin/python -m bench.forgetting [--show]

The statements of LoCoMo, as extraction makes them by rule, and 43 queries for something to forget,
each with the statements that are about it (`tests/data/forgetting/about.jsonl`, read and labelled
by hand among the nearest by words and by meaning). At most ten are shown. The half `work` was used
to choose the numbers of `memory/facts/relevance.py`; `report` was not. It reads
../shared/data/locomo/locomo_dev.json (CC BY-NC 4.0; it is not part of this project).
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench.locomo import samples

from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.relevance import relevant
from fourtier.memory.statements.extraction_rules import statements_in_dialogue
from fourtier.models.embeddings.bundled import load
from fourtier.schema.facts import StoreFactRequest
from tests.memory.facts.stores import MONDAY

QUERIES = Path("tests/data/forgetting/about.jsonl")
SHOWN = 10
NEAREST = 50


@dataclass(frozen=True)
class Statements:
    """The statements of one conversation; `vectors` are of length 1, in the same order."""

    facts: Sequence[FactRecord]
    turns: Sequence[str]
    vectors: "np.ndarray[tuple[int, int], np.dtype[np.float32]]"


def stated(sample: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, FactRecord]]:
    """Each statement once, with the turn that has it and its place there."""
    seen: set[tuple[str, str]] = set()
    for name, turns in sample["conversation"].items():
        if not isinstance(turns, list):
            continue
        for turn in turns:
            for place, each in enumerate(statements_in_dialogue(turn["text"])):
                if (said := (turn["speaker"], each.content)) not in seen:
                    seen.add(said)
                    request = StoreFactRequest(
                        user="u", content=each.content, speaker=turn["speaker"], source=name
                    )
                    yield f"{turn['dia_id']}/{place}", FactRecord.from_request(request, MONDAY)


def embedded(texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Vectors of length 1 by the bundled model."""
    vectors = np.array(list(MODEL.embed(texts)))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


MODEL = load(2)


def main() -> None:
    """Print precision and recall of both halves, with the cut and without."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print what was shown for each query")
    show = parser.parse_args().show
    queries = [json.loads(line) for line in QUERIES.read_text("utf-8").splitlines()]
    conversations: dict[int, Statements] = {}
    for number in sorted({each["sample"] for each in queries}):
        turns, facts = zip(*stated(samples()[number]), strict=True)
        texts = [f"{fact.speaker}: {fact.content}" for fact in facts]
        conversations[number] = Statements(facts, turns, embedded(texts))
    print("| half | queries | shown | precision | recall | ten nearest: precision | recall |")
    print("|---|---|---|---|---|---|---|")
    for half in ("work", "report"):
        of_half = [each for each in queries if each["half"] == half]
        shown = right = wanted = near_right = near = 0
        for each in of_half:
            here = conversations[each["sample"]]
            similar = here.vectors @ embedded([each["query"]])[0]
            order = np.argsort(-similar)
            nearest = {here.facts[at].id: float(similar[at]) for at in order[:NEAREST]}
            found = relevant(each["query"], here.facts, nearest)
            turn = {fact.id: name for fact, name in zip(here.facts, here.turns, strict=True)}
            best = sorted(found, key=lambda name: -found[name])[:SHOWN]
            about = set(each["about"])
            shown, right = shown + len(best), right + len({turn[name] for name in best} & about)
            wanted += min(len(about), SHOWN)
            near += SHOWN
            near_right += len({here.turns[at] for at in order[:SHOWN]} & about)
            if show:
                content = {fact.id: fact.content for fact in here.facts}
                print(f"{each['query']!r}: {len(best)} shown, {len(about)} about it")
                for name in best:
                    print(f"   {'+' if turn[name] in about else '-'} {content[name][:90]}")
        print(
            f"| {half} | {len(of_half)} | {shown} | {right / shown:.0%} | {right / wanted:.0%} "
            f"| {near_right / near:.0%} | {near_right / wanted:.0%} |"
        )


if __name__ == "__main__":
    main()
