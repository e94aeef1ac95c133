"""What is shown of a user's facts as being about something."""

from collections.abc import Sequence
from pathlib import Path

from fourtier.client import client_on
from fourtier.memory.facts.records import FactRecord
from fourtier.memory.facts.relevance import relevant
from fourtier.schema.message import Scope
from tests.memory.facts.stores import said
from tests.support.flow import running_flow

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")
SAID = [
    "My hideout is behind the mill in the forest.",
    "I go to the hideout on Sundays.",
    "I like green tea.",
    "My dentist is Dr. Berg.",
    "My appointment with the dentist is on Monday.",
    "I work as a nurse in Bergen.",
    *(f"I have read book number {number}." for number in range(20)),
]


def about(query: str, similar: dict[str, float], facts: Sequence[FactRecord]) -> list[str]:
    by_content = {fact.content: fact.id for fact in facts}
    found = relevant(query, facts, {by_content[name]: value for name, value in similar.items()})
    return [fact.content for fact in facts if fact.id in found]


FACTS = [said(each, speaker="ann").fact for each in SAID]


def test_most_of_the_words_are_enough_and_rare_ones_count_more() -> None:
    assert about("my hideouts", {}, FACTS) == SAID[:2]
    assert about("the dentist's appointment", {}, FACTS) == SAID[4:5]
    assert about("the book about the dentist", {}, FACTS) == SAID[3:5]
    assert about("the submarine", {}, FACTS) == []


def test_a_near_meaning_is_enough_if_nothing_is_much_nearer() -> None:
    near = {SAID[0]: 0.5, SAID[2]: 0.44, SAID[3]: 0.46, SAID[5]: 0.3}
    assert about("where one is alone", near, FACTS) == [SAID[0], SAID[3]]


def test_what_is_far_before_the_rest_is_shown_where_there_is_nothing_better() -> None:
    rest = dict.fromkeys(SAID[6:20], 0.2)
    assert about("where one is alone", {SAID[0]: 0.33, **rest}, FACTS) == SAID[:1]
    assert about("where one is alone", {SAID[0]: 0.29, **rest}, FACTS) == []
    assert about("where one is alone", {SAID[0]: 0.31, **rest}, FACTS) == []
    assert about("my tea", {SAID[0]: 0.33, **rest}, FACTS) == SAID[2:3]


def test_whose_fact_it_is_is_no_word_of_it_unless_nothing_else_is_asked_for() -> None:
    facts = [said("I like tea.", speaker="Ann").fact, said("I have a cat.", speaker="Bob").fact]
    assert about("Ann's bicycle", {}, facts) == []
    assert about("Ann's tea", {}, facts) == ["I like tea."]
    assert about("Bob", {}, facts) == ["I have a cat."]
    reported = ["I like tea.", "My car is green."]
    others = [said(f"I have read book number {number}.", speaker="Bob") for number in range(8)]
    mine = [said(each, speaker="Ann").fact for each in reported]
    assert about("Ann's green tea", {}, [*mine, *(each.fact for each in others)]) == []


async def test_how_near_a_meaning_must_be_is_a_parameter(tmp_path: Path) -> None:
    services = {"embeddings": {}, "facts": {"about-similarity": 0.99}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        await client.facts.store(ANN, "I live at 12 Elm Street.", speaker="ann")
        assert await client.forget.matching(ANN, "my address") == ()
        assert len(await client.forget.matching(ANN, "Elm Street")) == 1


async def test_it_is_asked_by_the_call_and_knows_superseded_facts(tmp_path: Path) -> None:
    services = {"embeddings": {}, "facts": {}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        for reported in (*SAID[:6], "I live in Oslo.", "I live in Bergen."):
            await client.facts.store(ANN, reported, speaker="ann")
        await client.facts.store(BOB, "Bob's hideout is in Oslo.", speaker="bob")
        assert {each.content for each in await client.forget.matching(ANN, "hideout")} == {
            *SAID[:2]
        }
        assert [each.content for each in await client.forget.matching(ANN, "Oslo")] == [
            "I live in Oslo."
        ]
        assert len(await client.forget.matching(ANN, "hideout", limit=1)) == 1
        await client.facts.store(ANN, "I live at 12 Elm Street.", speaker="ann")
        (address, *_) = await client.forget.matching(ANN, "my address")
        assert address.content == "I live at 12 Elm Street."
        assert await client.forget.matching(ANN, "my submarine") == ()
        assert await client.forget.matching(ANN, "?") == ()
        assert await client.forget.matching(Scope("eve", "default"), "hideout") == ()
