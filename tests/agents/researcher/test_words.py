"""The words that a question asks for, and the names in a text."""

import pytest

from fourtier.agents.researcher.words import Question
from fourtier.models.text.names import names_in


def words(question: str) -> tuple[str, ...]:
    asked = Question.of(question)
    return asked.said(asked.terms)


def test_a_question_asks_for_its_content_words() -> None:
    asked = words("Which Canadian rock band released the song, and who was its drummer?")
    assert asked == ("Canadian", "rock", "band", "released", "song", "drummer")


def test_what_only_asks_is_not_asked_for() -> None:
    assert words("Can you tell me what it was called, when and why?") == ()


def test_a_word_that_comes_twice_is_asked_for_once() -> None:
    assert words("Ann's drums: a drum or two drums?") == ("Ann's", "drums")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("In May the Bank of the West moved to Oslo.", ["May", "Bank of the West", "Oslo"]),
        ("The harbour is small. We like it.", []),
        ("Neil Peart was the drummer of Rush.", ["Neil Peart", "Rush"]),
        ("Élodie met Jean-Luc O\u2019Neill in Łódź.", ["Élodie", "Jean-Luc O\u2019Neill", "Łódź"]),
        ("Ann and Bob saw La Paz.", ["Ann", "Bob", "La Paz"]),
        (
            "We left Oslo. Ann was in St. Ives with J. R. Hale.",
            ["Oslo", "Ann", "St. Ives", "J. R. Hale"],
        ),
        ("A note from Mia\nOslo is far.", ["Mia", "Oslo"]),
        ("she said it to oslo", []),
        ("Counterparts 2 came out; Counterparts 2 sold.", ["Counterparts 2"]),
    ],
)
def test_names_are_runs_of_capitalised_words(text: str, names: list[str]) -> None:
    assert [name.text for name in names_in(text)] == names


@pytest.mark.parametrize(
    ("text", "echoes"),
    [
        ("Where does Ann live?", True),
        (" Can you tell me where Ann lives? ", True),
        ("Ann lives.", False),
        ("Ann lives here", False),
        ("Does Ann live in Oslo?", False),
    ],
)
def test_a_question_is_echoed_by_what_asks_the_same(text: str, *, echoes: bool) -> None:
    assert Question.of("Where does Ann live?").is_echoed_by(text) is echoes
