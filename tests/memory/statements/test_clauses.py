"""Which sentences are stored as several statements, and which stay whole."""

import pytest

from fourtier.memory.statements.clauses import standalone_clauses
from fourtier.memory.statements.extraction_rules import statements_in_dialogue, statements_to_agent


@pytest.mark.parametrize(
    ("sentence", "clauses"),
    [
        (
            "I'm Nora and I live in Hamburg with my husband Jonas.",
            ["I'm Nora", "I live in Hamburg with my husband Jonas."],
        ),
        ("My name is Samir and I'm 41.", ["My name is Samir", "I'm 41."]),
        ("I'm Ola, I'm 29, and I study law.", ["I'm Ola", "I'm 29", "I study law."]),
        ("I work in Ulm, but I live in Augsburg.", ["I work in Ulm", "I live in Augsburg."]),
        (
            "I live in Leeds and work as a nurse at the infirmary.",
            ["I live in Leeds", "I work as a nurse at the infirmary."],
        ),
        (
            "My brother Karl lives in Graz and teaches at the university.",
            ["My brother Karl lives in Graz", "My brother Karl teaches at the university."],
        ),
        ("Jonas is 40 and Mia is 6.", ["Jonas is 40", "Mia is 6."]),
        (
            "The rent is 400 euros but the landlord is Mr. Petit.",
            ["The rent is 400 euros", "The landlord is Mr. Petit."],
        ),
    ],
)
def test_clauses_that_stand_for_themselves_are_statements(
    sentence: str, clauses: list[str]
) -> None:
    assert standalone_clauses(sentence) == clauses


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Oslo.",
        "I have two kids and a dog.",
        "Signe and I live in Bergen.",
        # One clause leans on the other.
        "My sister is called Anna and she lives in Rome.",
        "I love cooking and my husband hates it.",
        "I own a boat and my wife has one.",
        "I'm in Oslo and that is my favourite city.",
        # It is a reason, a condition, a thought, or what somebody said.
        "I live in Oslo because I work at Equinor and I like the sea.",
        "If I live in Bergen and I work in Oslo, I need a car.",
        "I think I live in Bergen and I work in Oslo.",
        "I want to live in Bergen and work as a nurse.",
        "Anna says that I am late and I am loud.",
        # One is an event, or says when both are so.
        "The plan has changed and we are at the station at six.",
        "In summer I live in Bergen and I work at sea.",
        # Nothing in it is a state that may end.
        "It's been tough, but I'm staying positive.",
        "I saw a film and I had a pizza.",
    ],
)
def test_in_doubt_a_sentence_stays_whole(sentence: str) -> None:
    assert standalone_clauses(sentence) == [sentence]


def test_each_clause_has_the_whole_sentence_as_its_quote() -> None:
    said = "Hi! Remember that I'm Nora and I live in Hamburg."
    for find in (statements_to_agent, statements_in_dialogue):
        found = find(said)
        assert [each.content for each in found] == ["I'm Nora", "I live in Hamburg."]
        assert {each.quote for each in found} == {"Remember that I'm Nora and I live in Hamburg."}
        assert all(each.asked_for for each in found)


def test_a_sentence_that_leans_on_a_compound_one_keeps_it_whole() -> None:
    said = "I live in Oslo and my sister is a nurse. She works nights."
    assert [each.content for each in statements_to_agent(said)] == [said]
