"""What looks like a statement and is none, and what a question states without saying so."""

import pytest

from fourtier.memory.statements.extraction_rules import statements_in_dialogue, statements_to_agent


def to_agent(text: str) -> list[str]:
    return [statement.content for statement in statements_to_agent(text)]


@pytest.mark.parametrize(
    "text",
    [
        "I think the gate is B7.",
        "I guess the meeting is on Monday.",
        "Maybe my sister is coming on Sunday.",
        "We might move to Galway next year.",
        "My flight is on Monday, I think.",
        "My flight is probably on Monday.",
        "If I lived in Lisbon, I'd take the tram every day.",
        "Imagine I had three kids.",
        "Suppose my salary is 100,000 a year.",
        'In the film he says "I work in Paris and I hate it".',
        '"I have a dream that one day this nation will rise up."',
        "I own a castle in Scotland. Just kidding!",
        "My favourite food is my brother's homework, haha, just kidding.",
        "We moved!",
        "I can't believe it!",
        "We did it!",
        "Here is my code:",
        "I disagree.",
        "I understand.",
    ],
)
def test_what_nobody_vouches_for_is_not_stored(text: str) -> None:
    assert to_agent(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I think of my mother every day.",
        "I think it is a lovely town.",
        "I wish I wasn't allergic to cats.",
        "If it rains, I take the bus.",
        'I read "The Old Man and the Sea" last week.',
        'My team is called "The Silent Owls".',
        "The turtles might be small, but they have big claws.",
        "I moved to Bergen!",
        "I'm pregnant!",
        "I disagree with my boss about the budget.",
    ],
)
def test_what_is_stated_all_the_same_is_stored(text: str) -> None:
    assert to_agent(text) == [text]


def test_a_joke_takes_back_only_the_sentence_before_it() -> None:
    assert to_agent("I live in Oslo. I own a castle. Just kidding!") == ["I live in Oslo."]


def test_among_people_a_proposal_is_worth_storing() -> None:
    (statement,) = statements_in_dialogue("Maybe I'll write a screenplay about my time at sea.")
    assert statement.content == "Maybe I'll write a screenplay about my time at sea."
    assert to_agent("Maybe I'll write a screenplay about my time at sea.") == []


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (
            "What should I cook for my daughter Mia who is allergic to nuts?",
            "my daughter Mia is allergic to nuts",
        ),
        (
            "Can you suggest a present for my husband, who loves sailing?",
            "my husband loves sailing",
        ),
        ("Which books would you suggest, given that my son is dyslexic?", "my son is dyslexic"),
        ("Book a table for my wife, who's vegetarian.", "my wife is vegetarian"),
        ("Where can we go now that we have a baby?", "we have a baby"),
    ],
)
def test_what_a_question_takes_for_granted_is_stored(text: str, stored: str) -> None:
    (statement,) = statements_to_agent(text)
    assert statement.content == stored
    assert statement.quote == text


@pytest.mark.parametrize(
    "text",
    [
        "What should I do when I was told that it is late?",
        "How are you since we last talked?",
        "Who is the friend who called?",
    ],
)
def test_a_question_that_tells_nothing_gives_nothing(text: str) -> None:
    assert to_agent(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Forget that I have a blue Skoda.",
        "Please forget that I have a blue Skoda",
        "Can you forget that I have a blue Skoda?",
        "Disregard the fact that I have a blue Skoda.",
    ],
)
def test_what_is_to_be_forgotten_is_stored_as_no_longer_true(text: str) -> None:
    (statement,) = statements_to_agent(text)
    assert statement.content.rstrip(".") == "It is no longer true that I have a blue Skoda"
    assert statement.quote == text
    assert to_agent("Forget it.") == []
