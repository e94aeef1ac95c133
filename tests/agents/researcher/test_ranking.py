"""Which entries come first: relevance, words that the others lack, and names that link them."""

from fourtier.agents.researcher.candidates import Pool
from fourtier.agents.researcher.ranking import Ranked, rank
from fourtier.agents.researcher.words import Question
from fourtier.schema.archive import ArchiveHit
from tests.agents.researcher.entries import document, turn

FILLER = [
    document(f"Hill {number}", f"A hill with {word} and sheep on it.", 0.3)
    for number, word in enumerate(["heather", "gorse", "broom", "fern", "moss", "thyme"])
]


def ranked(question: str, *hits: ArchiveHit, number: int = 10) -> list[Ranked]:
    pool = Pool()
    pool.add(hits, 1, scored=True)
    return rank(Question.of(question), pool, number)


def order(found: list[Ranked]) -> list[str]:
    return [each.candidate.entry.id for each in found]


def test_an_entry_with_words_that_the_first_lacks_comes_before_one_that_repeats_them() -> None:
    found = ranked(
        "Who repaired the lighthouse and the ferry?",
        document("One", "They repaired the lighthouse in June.", 1.0),
        document("Two", "They repaired the lighthouse in July.", 0.8),
        document("Three", "The ferry was painted.", 0.5),
        *FILLER,
    )
    assert order(found)[:3] == ["One", "Three", "Two"]
    asked = Question.of("Who repaired the lighthouse and the ferry?")
    assert [asked.said(each.adds) for each in found[:3]] == [
        ("repaired", "lighthouse"),
        ("ferry",),
        (),
    ]


def test_an_entry_about_a_name_in_the_first_comes_before_what_is_more_relevant() -> None:
    found = ranked(
        "In which city was the drummer of the band that made Counterparts born?",
        document("Counterparts", "An album of Rush, whose drummer is Neil Peart.", 1.0),
        document("City of drums", "A city festival of drummers.", 0.4),
        document("Neil Peart", "Peart came from Hamilton.", 0.31),
        *FILLER,
    )
    assert order(found)[:2] == ["Counterparts", "Neil Peart"]
    assert found[1].link.to == "Counterparts"
    assert found[1].link.name == "Neil Peart"


def test_a_name_that_the_question_has_links_nothing() -> None:
    found = ranked(
        "What did Neil Peart play?",
        document("Counterparts", "An album with Neil Peart.", 1.0),
        document("Signals", "Songs without Neil Peart.", 0.5),
        *FILLER,
    )
    assert {each.link.to for each in found} == {""}


def test_a_name_that_all_have_links_less_than_one_that_two_have() -> None:
    found = ranked(
        "Who is on the boat?",
        document("First", "The boat belongs to Mia Berg and is moored at Tanger.", 1.0),
        document("Harbour", "Tanger is a port.", 0.31),
        document("Garden", "Mia Berg waters it.", 0.31),
        *(document(f"Note {each}", f"Mia Berg grows herb {each}.", 0.3) for each in range(20)),
    )
    assert order(found)[:2] == ["First", "Harbour"]


def test_turns_are_moved_less_than_documents() -> None:
    """Who talks names the same people all the time, and repeats nothing that the other knows."""
    hits = [
        ("one", "I repaired the lighthouse with Odd Nilsen.", 1.0),
        ("two", "The lighthouse is repaired at last!", 0.8),
        ("three", "Odd Nilsen has a ferry.", 0.3),
    ]
    question = "Who repaired the lighthouse and the ferry?"
    filler = [turn(f"f{each}", "Nice weather, is it not?", 0.1) for each in range(6)]
    as_turns = ranked(question, *(turn(*each) for each in hits), *filler)
    as_documents = ranked(question, *(document(*each) for each in hits), *FILLER)
    assert order(as_turns)[:2] == ["one", "two"]
    assert order(as_documents)[:2] == ["one", "three"]


def test_no_more_are_ranked_than_are_wanted_and_equals_keep_one_order() -> None:
    found = ranked("sheep", *reversed(FILLER), number=3)
    assert order(found) == ["Hill 0", "Hill 1", "Hill 2"]
    assert ranked("sheep") == []


def test_in_a_small_archive_names_link_too() -> None:
    found = ranked(
        "Where did the designer of the bridge go to school?",
        document("bridge", "The bridge was designed by Marta Solheim.", 1.0),
        document("paint", "It was painted.", 0.7),
        document("solheim", "Marta Solheim came from Tarnvik.", 0.3),
    )
    assert order(found)[:2] == ["bridge", "solheim"]
