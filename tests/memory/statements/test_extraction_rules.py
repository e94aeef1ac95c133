"""Which sentences are statements."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourtier.memory.statements.extraction_rules import statements_in_dialogue, statements_to_agent
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redact

LOCOMO = Path(__file__).parents[4] / "shared/data/locomo/locomo_dev.json"


def to_agent(text: str) -> list[str]:
    return [statement.content for statement in statements_to_agent(text)]


def in_dialogue(text: str) -> list[str]:
    return [statement.content for statement in statements_in_dialogue(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "My budget for the Hawaii trip is 10,000 dollars",
        "I live in Oslo.",
        "my dog's name is Rex",
        "I'm vegetarian",
        "I smoke.",
        "When I was young, I lived in Paris.",
        "What I like most is green tea.",
        "Book club is on Monday.",
        "Plan B failed.",
        "My knee hurts.",
        "Farid and I separated.",
        "I'm looking for a job.",
        "Call me Bob.",
        "The capital of Norland is Brix",
        "So far I've lost 5 kg.",
        "No one came to the party.",
        "Thanks to my sister, I got the job.",
        "Don't feel well since Tuesday.",
        "I need to hand in my tax return by May 3.",
        "Ich wohne in Oslo und arbeite bei einer Bank.",
        "我住在奥斯陆。",
    ],
)
def test_a_statement_is_stored_in_its_own_words(sentence: str) -> None:
    assert to_agent(sentence) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "What was my budget for the trip?",
        "what was my budget for the trip",
        "how do i get to the station",
        "Can you book me a table",
        "is the shop open on sunday",
        "Which hotel did we stay in",
        "My flight is at nine, right?",
        "Any ideas for dinner",
        "Where do you live ?!",
        "你住在哪里？",  # noqa: RUF001 - the question mark of the language
    ],
)
def test_a_question_is_left_out_with_its_mark_or_without(sentence: str) -> None:
    assert to_agent(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Tell me a joke about penguins.",
        "Please remind me to buy milk",
        "Remember to call my mother.",
        "Book a table for two at eight.",
        "book me a flight to Rome",
        "Show me the way to the station.",
        "Let's go to the cinema.",
        "Let me know when the train leaves.",
        "I want you to write a poem about rain.",
        "I was wondering if you could find a hotel.",
        "Call me back at five.",
        "Don't forget to lock the door.",
    ],
)
def test_a_request_is_left_out(sentence: str) -> None:
    assert to_agent(sentence) == []


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Good morning, how are you?",
        "Thanks a lot, that's great!",
        "Ok, sounds good.",
        "Wow, what a lovely idea!",
        "Nice to meet you.",
        "You are so kind.",
        "Congratulations!",
        "Have a nice day!",
        "Yes",
        "10,000 dollars",
        "The blue one.",
        "???",
        "🎉🎉",
    ],
)
def test_small_talk_and_fragments_are_left_out(text: str) -> None:
    assert to_agent(text) == []


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("Remember that my gate is the green one.", "my gate is the green one."),
        ("Please remember: I prefer aisle seats", "I prefer aisle seats"),
        ("Can you remember that I am allergic to nuts?", "I am allergic to nuts"),
        ("Don't forget that the meeting moved to Friday.", "the meeting moved to Friday."),
        ("note that we eat no pork", "we eat no pork"),
        ("I want you to remember my birthday is May 5", "my birthday is May 5"),
    ],
)
def test_what_is_to_be_remembered_is_what_follows(said: str, stored: str) -> None:
    (statement,) = statements_to_agent(said)
    assert statement.content == stored
    assert statement.quote == said
    assert statement.asked_for


def test_what_stands_in_front_is_taken_off_and_stays_in_the_quote() -> None:
    (statement,) = statements_to_agent("Hey Ann, oh well, so I moved to Bergen last week!")
    assert statement.content == "I moved to Bergen last week!"
    assert statement.quote == "Hey Ann, oh well, so I moved to Bergen last week!"


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("I'm vegetarian, what can I eat in Lisbon?", "I'm vegetarian"),
        (
            "Since I'm going to Hawaii with 10,000 dollars, what should I see?",
            "I'm going to Hawaii with 10,000 dollars",
        ),
        ("My train leaves at six, can you wake me?", "My train leaves at six"),
    ],
)
def test_what_is_stated_before_a_question_is_stored(said: str, stored: str) -> None:
    assert to_agent(said) == [stored]


def test_a_mixed_message_gives_its_statements_alone() -> None:
    text = (
        "Hi there! My sister plays the cello. Do you like music? Tell me about Bach. "
        "We went to Dr. Olsen's concert on May 3. Thanks!"
    )
    assert to_agent(text) == [
        "My sister plays the cello.",
        "We went to Dr. Olsen's concert on May 3.",
    ]


def test_a_sentence_about_somebody_is_stored_with_the_one_that_names_them() -> None:
    assert to_agent("My sister is called Anna. She lives in Rome. I live in Oslo.") == [
        "My sister is called Anna. She lives in Rome.",
        "I live in Oslo.",
    ]


def test_only_the_sentence_right_before_is_leant_on() -> None:
    text = "My sister is called Anna. Do you know her? She lives in Rome."
    assert to_agent(text) == ["My sister is called Anna.", "She lives in Rome."]


def test_what_is_said_about_the_agent_is_not_a_fact_about_the_user() -> None:
    assert to_agent("You forgot the hotel in Rome. Your list was too long.") == []
    assert in_dialogue("You forgot the hotel in Rome.") == ["You forgot the hotel in Rome."]


def test_of_a_pasted_text_only_what_is_about_the_user_is_stored() -> None:
    article = " ".join(f"Station number {number} lies in the valley." for number in range(20))
    assert to_agent(f"I study these stations in Oslo. {article}") == [
        "I study these stations in Oslo."
    ]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (
            "Hey Mia! Good to see you! I ran a race for the hospital last Saturday.",
            ["I ran a race for the hospital last Saturday."],
        ),
        ("Wow, Tom! That's so cool! How did it go?", []),
        ("Thanks, Mia!", []),
        ("Yeah, I painted that lake last year! It's special to me.", None),
        ("Eleven years already!", ["Eleven years already!"]),
        ("Nate!", []),
    ],
)
def test_a_turn_of_dialogue_keeps_what_the_speaker_states(
    said: str, stored: list[str] | None
) -> None:
    expected = ["I painted that lake last year! It's special to me."] if stored is None else stored
    assert in_dialogue(said) == expected


@pytest.mark.parametrize(
    "secret",
    [
        "My password is hunter2.",
        "The PIN for the gate is 4711.",
        "my card number is 4111 1111 1111 1111",
        "The api key: sk-abcdefghijklmnop1234",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----",
    ],
)
def test_a_credential_is_dropped_and_the_rest_is_stored(secret: str) -> None:
    text = redact(f"I work at a bank.\n{secret}\nI live in Oslo.", PrivacyPolicy()).text
    assert to_agent(text) == ["I work at a bank.", "I live in Oslo."]
    assert in_dialogue(redact(secret, PrivacyPolicy()).text) == []


@given(st.text(max_size=1_000))
def test_whatever_is_typed_gives_statements_that_facts_can_take(text: str) -> None:
    for statement in [*statements_to_agent(text), *statements_in_dialogue(text)]:
        assert statement.content.strip()
        assert len(statement.content) <= 8_000
        assert statement.quote.strip()


@pytest.mark.parametrize(
    "piece", ["x", "a. ", "I am a ", '"', "hey, ", "4", "password for ", "- a\n"]
)
def test_a_message_of_anything_is_read_however_long(piece: str) -> None:
    """What looks back at all of it for every word would not come to an end before the tests do."""
    text = (piece * 256_000)[:256_000]
    statements_to_agent(text)
    statements_in_dialogue(text)


@pytest.mark.skipif(not LOCOMO.is_file(), reason="the benchmark data is not here")
def test_nearly_all_evidence_of_real_dialogue_is_stored() -> None:
    turns, evidence = {}, set()
    for number, sample in enumerate(json.loads(LOCOMO.read_text("utf-8"))):
        for key, value in sample["conversation"].items():
            if key.startswith("session_") and isinstance(value, list):
                turns |= {(number, turn["dia_id"]): turn["text"] for turn in value}
        for question in sample["qa"]:
            if question["category"] != 5:
                evidence |= {(number, each) for each in question["evidence"]}
    asked_about = [turns[each] for each in evidence if each in turns]

    stored = [text for text in asked_about if statements_in_dialogue(text)]

    assert len(asked_about) > 600
    assert len(stored) / len(asked_about) > 0.97


def test_of_a_long_text_the_beginning_and_the_end_are_looked_at() -> None:
    pasted = "The weather was mild. " * 8_000
    found = statements_to_agent(f"I live in Oslo.\n{pasted}\nI work in Bergen.")
    assert [each.content for each in found] == ["I live in Oslo.", "I work in Bergen."]


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Guess what - I got a puppy two weeks ago!", "I got a puppy two weeks ago!"),
        ("Hi Bob! Long time no see - we moved to Ghent in March.", "we moved to Ghent in March."),
        ("Good to see you, I sold my boat.", "I sold my boat."),
        ("Good news: I passed the exam.", "I passed the exam."),
        ("Wish me luck, my exam is on Friday!", "my exam is on Friday!"),
        ("Thanks, Melanie - my dad gave it to me.", "my dad gave it to me."),
        ("Let me tell you about my trip: we saw whales.", "we saw whales."),
    ],
)
def test_what_hangs_on_small_talk_is_a_statement(said: str, statement: str) -> None:
    assert to_agent(said) == in_dialogue(said) == [statement]


def test_a_name_between_two_dashes_is_no_address() -> None:
    said = "Thanks, Rex - my dog - is well again."
    assert to_agent(said) == ["Rex - my dog - is well again."]


@pytest.mark.parametrize(
    ("asked", "statement"),
    [
        ("Did I tell you I adopted a puppy named Toby?", "I adopted a puppy named Toby"),
        ("Did you know that I run a bakery in Porto?", "I run a bakery in Porto"),
        ("Have I told you that my sister Ines is a vet?", "my sister Ines is a vet"),
        ("Can you believe I've been sober for two years?", "I've been sober for two years"),
        ("Oh, do you remember that we moved to Ghent?", "we moved to Ghent"),
    ],
)
def test_who_asks_whether_it_was_told_tells_it(asked: str, statement: str) -> None:
    assert to_agent(asked) == in_dialogue(asked) == [statement]
    assert [each.quote for each in statements_to_agent(asked)] == [asked]


@pytest.mark.parametrize(
    "asked",
    [
        "Did I tell you where I live?",
        "Did I tell you I live in Oslo or in Bergen?",
        "Do you remember my favourite colours?",
        "Did you know my sister?",
        "Did I say I live in Oslo?",
        "Do you know if I live in Oslo?",
        "Did you remember to book the table?",
    ],
)
def test_what_is_only_asked_for_is_none(asked: str) -> None:
    assert to_agent(asked) == in_dialogue(asked) == []


def test_what_people_show_each_other_is_theirs() -> None:
    shown = {
        "Check out my new guitar, a Fender from 1962.": "my new guitar, a Fender from 1962",
        "Hey, take a look at my pottery creation!": "my pottery creation",
        "Look at this photo of our kids at the beach.": "our kids at the beach",
    }
    assert {said: in_dialogue(said) for said in shown} == {
        said: [statement] for said, statement in shown.items()
    }
    assert to_agent("Look at my new code and find the bug.") == []
    assert in_dialogue("Look at this!") == in_dialogue("Check out the crowd.") == []
