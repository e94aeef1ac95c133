"""Which names a sentence mentions: labelled sentences, and what a name is known by."""

from collections.abc import Sequence

import pytest

from fourtier.models.text.proper_names import name_key, proper_names
from tests.models.text.named_sentences import SENTENCES


def figures(half: Sequence[tuple[str, list[str]]]) -> tuple[float, float, list[str]]:
    """Precision and recall of the names, and the sentences that are not read as labelled."""
    right = found = labelled = 0
    wrong: list[str] = []
    for text, names in half:
        read = proper_names(text)
        right += len(set(read) & set(names))
        found += len(read)
        labelled += len(names)
        if list(read) != names:
            wrong.append(f"{text} -> {read}")
    return right / found, right / labelled, wrong


@pytest.mark.parametrize("half", ["work", "report"])
def test_names_are_found_and_other_words_are_not(half: str) -> None:
    precision, recall, wrong = figures(SENTENCES[half == "report" :: 2])
    assert precision >= 0.95, wrong
    assert recall >= 0.95, wrong


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday Tom went to Paris.", ["Tom", "Paris"]),
        ("Ann met Tom Monday at the pub", ["Ann", "Tom"]),
        ("Tom Hansen's wife and Anna\u2019s sister", ["Tom Hansen", "Anna"]),
        ("Mrs. Dalloway lives in St. Ives.", ["Dalloway", "St. Ives"]),
        ("We read J. R. Hale and J.K. Rowling.", ["J. R. Hale", "J.K. Rowling"]),
        ("- Oslo is far\n- Milk is gone", ["Oslo"]),
        ('He said "Dinner is ready" to Kim. Kim\'ll know.', ["Kim"]),
        ("I saw OSLO, Oslo and oslo, and I told Tom's dog and Tom.", ["OSLO", "Tom"]),
        (
            "\u00c9lodie met Jean-Luc O\u2019Neill in \u0141\u00f3d\u017a, \u00e9lan vital.",
            ["\u00c9lodie", "Jean-Luc O\u2019Neill", "\u0141\u00f3d\u017a"],
        ),
        ("BIG NEWS FROM OSLO", []),
        ("\u5317\u4eac is big", []),
        ("She speaks Swiss German, I watch TV in January.", []),
        ("Perfect! Hmmmm! I like it.", []),
        ("Caroline", ["Caroline"]),
        ("All Of These Words Are Written As In Some Heading Of Magazines", []),
        ("X" + "y" * 200 + " is a word", []),
        ("", []),
    ],
)
def test_names_as_they_are_written(text: str, names: list[str]) -> None:
    assert list(proper_names(text)) == names


def test_one_name_has_one_key_however_it_is_written() -> None:
    keys = {name_key(each) for each in ("Anna", " ANNA's", "anna\u2019s", "anna")}
    assert keys == {"anna"}
    assert name_key("New \n York") == "new york"
    assert name_key("O\u2019Neill") == name_key("O'Neill") == "o'neill"
