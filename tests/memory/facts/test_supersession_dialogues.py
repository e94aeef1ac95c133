"""Labelled dialogues: what people say replaces what it should, and nothing else.

`python -m bench.supersession` prints the same by theme, for all sets, with questions.
"""

from pathlib import Path

import pytest

from tests.memory.facts.stores import opened
from tests.support.supersession import dialogues, run

pytestmark = pytest.mark.timeout(120)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first", "second", "classes"])
async def test_dialogues_are_read_as_people_would(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as store:
        counts = await run(store.facts, dialogues(name), name)

    faults = "\n".join(counts.faults)
    assert counts.dialogues >= 150
    assert counts.wrong == 0, faults
    assert counts.recall >= 0.9, faults
    assert counts.not_valid == 0, faults
    assert counts.stored_noise <= (name == "classes"), faults


def test_half_of_the_dialogues_supersede_nothing() -> None:
    labelled = [each for name in ("first", "second", "classes") for each in dialogues(name)]
    quiet = [each for each in labelled if not each.closed]
    assert len(labelled) >= 1_000
    assert len(quiet) / len(labelled) > 0.4
