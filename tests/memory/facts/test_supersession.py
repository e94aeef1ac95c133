"""Which statement replaces another: pairs as people say them, in both directions of error."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.supersession import resolve_validity, slot_of
from fourtier.schema.facts import StoreFactRequest
from fourtier.schema.message import Scope

ANN = Scope("Ann", "default")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)

SUPERSEDES = [
    # A budget, in the words of the first users.
    ("My budget for the Hawaii trip is 10,000 dollars", "My Hawaii budget is now 12,000 dollars"),
    (
        "My budget for the Hawaii trip is 10,000 dollars",
        "The budget for the Hawaii trip changed to 12,000 dollars",
    ),
    (
        "My budget for the Hawaii trip is 10,000 dollars",
        "I've raised my Hawaii budget to 12,000 dollars",
    ),
    ("My Hawaii budget is $10,000.", "Actually, my budget for the Hawaii trip is $12,000."),
    ("My budget is 500 euros a month", "My budget went up from 500 to 650 euros a month"),
    ("My budget for the Hawaii trip is 10k", "The user's Hawaii trip budget is now 12k"),
    ("my hawaii budget is 10000 dollars", "my hawaii budget is 12000 dollars"),
    ("Our grocery budget is 400 euros", "We cut our grocery budget to 350 euros"),
    # Where somebody lives and works.
    ("I live in Oslo", "I moved to Bergen"),
    ("I live in Oslo", "I live in Bergen now"),
    ("I'm living in Oslo.", "We've just moved to Bergen and love the rain!"),
    ("i live in oslo", "i moved to bergen"),
    ("The user lives in Oslo.", "I moved to Bergen"),
    ("My sister Anna lives in Rome", "My sister Anna moved to Milan"),
    ("My sister lives in Rome", "My sister has moved to Milan"),
    ("My parents live in Rome", "My parents live in Milan now"),
    ("I work at Equinor", "I started a new job at Telenor"),
    ("I work for Equinor", "I now work for Telenor"),
    ("My employer is Equinor", "I work at Telenor now"),
    ("I work as a nurse", "I now work as a teacher"),
    ("Anna works at Oslo University Hospital", "Anna works at Telenor"),
    # What has one value by its nature.
    ("My name is Ann Smith", "My name is Ann Jones now"),
    ("My favourite colour is blue", "My favourite colour is green"),
    ("My favorite food is sushi", "These days my favorite food is ramen"),
    ("My phone number is 555 1234", "My new phone number is 555 9876"),
    ("My email address is ann@example.org", "My email address is ann@example.com now"),
    ("The wifi password is swordfish", "The wifi password is now barracuda"),
    ("My boss is Tom", "My boss is Maria now"),
    ("My manager is Tom", "My new manager is Maria"),
    ("My dog's name is Rex", "Correction: my dog's name is Max"),
    ("My wife's birthday is March 3", "My wife's birthday is March 4"),
    ("The deadline for the report is Friday", "The deadline for the report is next Monday"),
    ("The deadline for the report is Friday", "The deadline for the report was moved to Monday"),
    ("My dentist appointment is on Tuesday", "I moved my dentist appointment to Friday"),
    ("My weight is 82 kg", "My weight is 79 kg"),
    ("I am 30 years old", "I turned 31"),
    ("Anna is 30 years old", "Anna is 31 years old"),
    ("I have 3 bikes", "I now have 4 bikes"),
    ("The ferry to Bergen costs 300 kroner", "The ferry to Bergen costs 350 kroner"),
    ("My course starts on Monday", "My course now starts on Wednesday"),
    ("My budget is 2,000 dollars for the trip", "My budget for the trip is 2,500 dollars"),
    ("My salary is 50,000 euros", "My salary increased to 55,000 euros"),
    ("The rent of my flat is 900 euros", "The rent of my flat has gone up to 950 euros"),
    ("Ann's blood type is A", "My blood type is B"),
    # What everybody can look up.
    ("The capital of Kazakhstan is Almaty", "The capital of Kazakhstan is Astana"),
    ("Kazakhstan's capital is Almaty", "The capital of Kazakhstan is Astana"),
    ("The CEO of Acme Inc. is Tom Lee", "The CEO of Acme Inc. is Maria Gil"),
    ("The author of Night Train is Ada Moor", "The author of Night Train is Bo Lind"),
    ("Acme was founded by Tom Lee", "Acme was founded by Maria Gil"),
    ("Tom Lee was born in the city of Leeds", "Tom Lee was born in the city of York"),
    ("Anna is married to Tom", "Anna is married to Bob"),
    ("Acme is headquartered in Leeds", "Acme is headquartered in York"),
    ("Tom Lee plays the position of goalkeeper", "Tom Lee plays the position of striker"),
    (
        "The company that runs the ferry is Norled",
        "The company that runs the ferry is Fjord1",
    ),
    # A statement that says more may replace one that does not.
    ("I live in Oslo", "I moved to Bergen and started to row"),
]

STANDS_BESIDE = [
    # Things that have many values.
    ("I like tea", "I like coffee"),
    ("I love Oslo", "I love Bergen"),
    ("I speak Norwegian", "I speak Spanish"),
    ("I have a dog", "I have a cat"),
    ("I play the cello", "I play the piano"),
    ("I know Anna", "I know Berta"),
    ("Anna is famous for her soups", "Anna is famous for her bread"),
    ("I am allergic to nuts", "I am allergic to cats"),
    ("My hobby is rowing", "My hobby is chess"),
    ("My friend is Tom", "My friend is Bob"),
    ("My daughter's name is Ida", "My daughter's name is Eva"),
    ("One of my favourite books is Emma", "One of my favourite books is Persuasion"),
    ("I also work at Equinor", "I also work at Telenor"),
    ("I sometimes work at Equinor", "I work at Telenor"),
    # Several sides of one thing.
    ("My brother is a doctor", "My brother is 30 years old"),
    ("My brother is a doctor", "My brother is a vegetarian"),
    ("My car is red", "My car is a Volvo"),
    ("My car is red", "My car is 5 years old"),
    ("I am a teacher", "I am a mother"),
    ("I live in Oslo", "I live in a small flat"),
    ("I live in Oslo", "I live with my wife"),
    ("I work at Equinor", "I work as an engineer"),
    ("My budget is 10,000 dollars", "My budget is tight"),
    ("My job is stressful", "My job is at Equinor"),
    ("Tom Lee was born in Leeds", "Tom Lee was born on 3 May 1970"),
    ("Acme was founded by Tom Lee", "Acme was founded in Leeds"),
    ("Acme was founded by Tom Lee", "Acme was created by Maria Gil"),
    ("The film was great", "The film was three hours long"),
    # Different people and things.
    ("My sister Anna plays the cello", "My sister Berta plays the cello"),
    ("My sister Anna lives in Rome", "My sister Berta lives in Milan"),
    ("My sister lives in Rome", "My sister lives in Milan"),
    ("I live in Oslo", "Tom lives in Bergen"),
    ("I live in Oslo", "My parents live in Bergen"),
    ("Anna works at Equinor", "Berta works at Telenor"),
    ("My wife's birthday is March 3", "My mother's birthday is May 4"),
    ("My budget for the Hawaii trip is 10,000 dollars", "My budget for food is 300 dollars"),
    ("My budget for the Hawaii trip is 10,000 dollars", "My budget is 3,000 dollars"),
    ("My Hawaii budget is 10,000 dollars", "My Hawaii flight budget is 2,000 dollars"),
    ("My Hawaii budget is 10,000 dollars", "The budget for the Norway trip changed to 5,000"),
    ("My budget is 2,000 dollars for the trip", "Our budget is 2,000 dollars for housing"),
    ("My reservation ID is VA5SGQ", "My reservation ID is H8Q05L"),
    ("My flight number is SK 12", "My flight number is SK 99"),
    ("I have 3 meetings", "I have 2 meetings"),
    ("My home address is 5 Elm St", "My work address is 9 Oak St"),
    ("My favourite book is Emma", "My favourite film is Alien"),
    ("The capital of France is Paris", "The capital of Spain is Madrid"),
    ("The price is 10 dollars", "The price is 15 dollars"),
    ("My meeting with Tom is on Friday", "My meeting with Bob is on Monday"),
    # Events, each on its own day.
    ("I visited Oslo", "I visited Bergen"),
    ("I went to the gym on Monday", "I went to the gym on Thursday"),
    ("My run was 5 km", "My run was 8 km"),
    ("My flight is on Monday", "My flight is on Thursday"),
    ("I spent 40 dollars on food", "I spent 60 dollars on food"),
    ("I had dinner with Anna", "I had dinner with Berta"),
    ("Tom worked in the city of Leeds", "Tom worked in the city of York"),
    # Denied, past, planned, supposed, asked, said by others.
    ("I live in Oslo", "I don't live in Oslo any more"),
    ("I live in Oslo", "I never lived in Bergen"),
    ("I live in Oslo", "I lived in Bergen as a child"),
    ("I live in Oslo", "I moved to Bergen when I was five"),
    ("I live in Oslo", "I moved to Bergen in 2010"),
    ("I live in Oslo", "I might move to Bergen"),
    ("I live in Oslo", "I want to live in Bergen"),
    ("I live in Oslo", "If I live in Bergen one day, I will row"),
    ("I live in Oslo", "Do I live in Bergen?"),
    ("My budget is 10,000 dollars", "My budget was 8,000 dollars"),
    ("My budget is 10,000 dollars", "My budget is not 12,000 dollars"),
    ("My budget is 10,000 dollars", "I think my budget is 12,000 dollars"),
    ("My budget is 10,000 dollars", "I wish my budget were 12,000 dollars"),
    ("My budget is 10,000 dollars", "Your budget is 12,000 dollars"),
    ("My boss is Tom", "Anna says that her boss is Maria"),
    # Conversation.
    ("That's so cool, Anna!", "That's so cool, Tom!"),
    ("It is a lovely day", "It is a rainy day"),
    ("This is my favourite", "This is my painting"),
    ("The best part was the beach", "The best part was the food"),
    ("My family is always there for me", "My family is my motivation"),
    ("The key to improving is practice", "The key to improving is patience"),
    ("My goal is to run a marathon", "My goal is to learn Spanish"),
    ("Thanks, Anna, you are the best", "Thanks, Tom, you are the best"),
]

#: To hide the older one would hide what it says besides.
SAYS_MORE = [
    ("I live in Oslo and my neighbour has a key", "I moved to Bergen"),
    ("My boss is Tom, who taught me to sail", "My boss is Maria"),
    ("I live in Oslo. My cat is called Misu.", "I live in Bergen."),
]


def fact(content: str, hours: int, *, speaker: str = "Ann", **fields: str) -> FactRecord:
    request = StoreFactRequest(
        user=ANN.user,
        content=content,
        speaker=speaker,
        timestamp=MONDAY + timedelta(hours=hours),
        **fields,
    )
    record = FactRecord.from_request(request, MONDAY)
    return replace(record, slot=slot_of(ANN, record))


def superseded(*facts: FactRecord) -> list[str]:
    """The contents of those that another one has replaced."""
    slots = {each.slot for each in facts} - {""}
    resolved = [
        each for slot in slots for each in resolve_validity([f for f in facts if f.slot == slot])
    ]
    return [each.content for each in resolved if not each.valid]


@pytest.mark.parametrize(("older", "newer"), SUPERSEDES)
def test_a_newer_statement_of_the_same_thing_supersedes(older: str, newer: str) -> None:
    assert superseded(fact(older, 1), fact(newer, 2)) == [older]


@pytest.mark.parametrize(("one", "other"), STANDS_BESIDE)
def test_statements_of_different_things_stand_beside_each_other(one: str, other: str) -> None:
    assert superseded(fact(one, 1), fact(other, 2)) == []
    assert superseded(fact(one, 2), fact(other, 1)) == []


@pytest.mark.parametrize(("older", "newer"), SAYS_MORE)
def test_what_says_more_than_the_newer_one_stays(older: str, newer: str) -> None:
    assert superseded(fact(older, 1), fact(newer, 2)) == []
