"""The lexicon of `health`: words for illnesses, medication, treatments, and for people.

Each file of `lexicon/` has one word or phrase a line, as a regular expression, in ten languages
where the word differs. It is short: what people would not want to read in somebody else's memory.
"""

from importlib import resources


def _any_of(name: str) -> str:
    """The words of a file as alternatives, the longest first, so that none hides a longer one."""
    text = resources.files("fourtier.runtime.privacy").joinpath(f"lexicon/{name}.txt")
    words = text.read_text("utf-8").splitlines()
    return "|".join(sorted(words, key=lambda word: (-len(word), word))).replace(" ", r"\s")


CONDITIONS = _any_of("conditions")
MEDICATION = _any_of("medication")
TREATMENTS = _any_of("treatments")
#: What is said of persons only: "HIV-positive".
OF_PERSONS = _any_of("of_persons")
#: Who may have an illness: "mother", "boss".
PERSONS = _any_of("persons")
