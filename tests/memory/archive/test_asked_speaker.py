"""The people whose words a question asks for, and what they said."""

from pathlib import Path

import pytest

from fourtier.memory.archive.asked_speaker import asked_speakers
from tests.memory.archive.test_archive_service import archived, run, search, tell, turn
from tests.support.flow import running_flow


@pytest.mark.parametrize(
    ("question", "speakers"),
    [
        ("What did Mia cook?", {"mia"}),
        ("What is Mia's favourite dish?", {"mia"}),
        ("What do both Mia and Jean Paul collect?", {"mia", "jean paul"}),
        ("Where do I live?", {"ann", "user"}),
        ("When did my sister visit Mia?", {"ann", "user", "mia"}),
        ("Which hotel did you recommend to me?", {"assistant"}),
        ("What was your advice on the visa?", {"assistant"}),
        ("Which book had you just suggested?", {"assistant"}),
        ("Can you recommend me a hotel?", {"ann", "user"}),
        ("Could you suggest a film for my evening?", {"ann", "user"}),
        ("What did the assistant tell Mia?", {"assistant", "mia"}),
        ("Where do you live?", set()),
        ("what is the capital?", set()),
        ("", set()),
    ],
)
def test_who_may_have_said_what_is_asked_for(question: str, speakers: set[str]) -> None:
    assert set(asked_speakers(question, "Ann")) == speakers


async def test_what_the_named_one_said_comes_before_what_others_said(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"embeddings": {}, "archive": {}}) as flow:
        said = "The soup in that little place at the harbour was wonderful."
        for number, speaker in enumerate(("Mia", "Leo", "Eva")):
            await tell(flow, turn(number, said, speaker=speaker))
        await archived(flow, 3)
        for speaker in ("Mia", "Leo", "Eva"):
            hits = await search(flow, f"What soup did {speaker} like?", explain=True)
            assert hits[0].entry.speaker == speaker
            assert hits[0].legs["speaker"].rank == 1
            assert len(hits) == 3
            assert not any("speaker" in hit.legs for hit in hits[1:])
        nobody = await search(flow, "Did Zoe like the soup?", explain=True)
        assert len(nobody) == 3
        assert not any("speaker" in hit.legs for hit in nobody)


async def test_mine_are_the_users_words_and_yours_the_assistants(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"embeddings": {}, "archive": {}}) as flow:
        await tell(
            flow,
            run(
                "r1",
                "A hotel in Bergen near the fish market with a view would be good.",
                answer="A good hotel in Bergen near the fish market is the Grand, it has a view.",
            ),
        )
        await archived(flow, 2)
        mine = await search(flow, "Which hotel in Bergen did I want?")
        assert [hit.entry.part for hit in mine] == ["question", "answer"]
        yours = await search(flow, "Which hotel in Bergen did you suggest?")
        assert [hit.entry.part for hit in yours] == ["answer", "question"]


async def test_who_narrows_a_search_to_one_speaker_gets_no_other(tmp_path: Path) -> None:
    async with running_flow(tmp_path, {"embeddings": {}, "archive": {}}) as flow:
        await tell(flow, turn(1, "I like soup.", speaker="Mia"), turn(2, "Soup!", speaker="Leo"))
        await archived(flow, 2)
        hits = await search(flow, "What did Leo say of soup?", speaker="Leo", explain=True)
        assert [hit.entry.speaker for hit in hits] == ["Leo"]
        assert "speaker" not in hits[0].legs
