"""Which notes say nothing that their entries do not say."""

import pytest

from fourtier.agents.researcher.candidates import Candidate
from fourtier.agents.researcher.grounding import is_grounded
from tests.agents.researcher.entries import document, turn

SAID = turn("t", "My cousin Torvald bought seven boats for 1,200 crowns in Bodø.", 1.0)
READ = document("Neil Peart.txt", "He was born on 12 September 1952.", 1.0)


@pytest.mark.parametrize(
    "note",
    [
        "Torvald bought 7 boats.",
        "Torvald bought seven boats in Bodø for 1200 crowns.",
        "Mia said on 1 March 2026 that her cousin bought boats.",
        "On 2026-03-01, a Sunday, Mia spoke of boats.",
        "The cousin has one boat or more.",
        "There are boats.",
    ],
)
def test_speaker_date_numbers_and_names_of_the_entry_count_as_said(note: str) -> None:
    assert is_grounded(note, [Candidate.of(SAID, 1.0, 1)])


@pytest.mark.parametrize(
    "note",
    [
        "Torvald bought 8 boats.",
        "Torvald bought eight boats.",
        "Torvald bought seven boats for 12,000 crowns.",
        "Torvald Engen bought boats.",
        "Sigrid bought boats.",
        "The cousin bought boats in Narvik.",
        "Mia said on 2 March 2026 that her cousin bought boats.",
        "Torvald bought 7 boats in 1987.",
    ],
)
def test_an_invented_number_or_name_is_seen(note: str) -> None:
    assert not is_grounded(note, [Candidate.of(SAID, 1.0, 1)])


def test_several_entries_bear_a_note_together_and_a_document_its_title() -> None:
    both = [Candidate.of(SAID, 1.0, 1), Candidate.of(READ, 1.0, 1)]
    note = "Neil Peart was born in 1952, and Torvald has boats."
    assert is_grounded(note, both)
    assert not is_grounded(note, both[:1])
    assert not is_grounded(note, both[1:])
