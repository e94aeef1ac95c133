"""How much promotion reads of a long conversation, and how much it writes."""

from pathlib import Path

import pytest

from fourtier.memory.promotion import conversation
from fourtier.memory.promotion.parts import in_parts
from fourtier.schema.conversations import InvocationSummary
from tests.memory.promotion.test_promotion_statements import START, promoting


async def test_a_record_of_several_pages_is_read_to_its_end(tmp_path: Path) -> None:
    long = "Where is a bakery? " + "x" * 199_000  # four of them are more than one answer holds
    async with promoting(tmp_path) as promotion:
        await promotion.said("I live in Rome.", *[long] * 8, "I work in Oslo.")
        await promotion.end()

        found = await promotion.facts.take(2)
        episode = await promotion.episodes.next()

    assert [(each.content, each.invocation_id) for each in found] == [
        ("I live in Rome.", "r0"),
        ("I work in Oslo.", "r9"),
    ]
    assert len(episode.steps) == 10


async def test_beyond_max_invocations_a_record_is_not_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with promoting(tmp_path, **{"max-invocations": 3}) as promotion:
        await promotion.said(
            *(f"I have {number} cats. Where is a bakery?" for number in range(10, 16))
        )
        await promotion.end()
        episode = await promotion.episodes.next()
        await promotion.wait_until_handled()

    assert len(episode.steps) == 3
    assert [each.invocation_id for each in promotion.facts.received] == ["r0", "r1", "r2"]
    assert "promoted by its first 3 invocations" in caplog.text


async def test_beyond_its_characters_a_record_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "_MAX_READ", 2_500)
    async with promoting(tmp_path) as promotion:
        await promotion.said(*["I live in Rome. Where is a bakery? " + "x" * 1_000] * 6)
        await promotion.end()

        assert len((await promotion.episodes.next()).steps) == 2


async def test_one_conversation_gives_at_most_max_facts(tmp_path: Path) -> None:
    limits = {"max-statements": 2, "max-facts": 5}
    async with promoting(tmp_path, **limits) as promotion:
        await promotion.said(
            *(
                f"I have {n} cats. I have {n} dogs. I have {n} cows. Where is a bakery?"
                for n in range(10, 14)
            )
        )
        await promotion.end()
        await promotion.episodes.next()
        await promotion.wait_until_handled()

    assert [each.content for each in promotion.facts.received] == [
        "I have 10 cats.",
        "I have 10 dogs.",
        "I have 11 cats.",
        "I have 11 dogs.",
        "I have 12 cats.",
    ]


async def test_what_is_said_again_later_is_a_fact_of_each_invocation(tmp_path: Path) -> None:
    async with promoting(tmp_path) as promotion:
        await promotion.said("I live in Oslo.", "I live in Bergen.", "I live in Oslo.")
        await promotion.end()
        found = await promotion.facts.take(3)

    assert [each.invocation_id for each in found] == ["r0", "r1", "r2"]


def test_of_too_many_parts_the_first_and_the_last_are_read() -> None:
    said = [
        InvocationSummary(id=f"r{number}", query="word " * 190, timestamp=START)
        for number in range(10)
    ]
    parts = in_parts(said, "ann", 300, 3)

    assert [list(part.lines) for part in parts] == [[1], [2], [10]]
