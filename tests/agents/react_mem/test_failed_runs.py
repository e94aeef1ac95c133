"""A run without an answer: its question is stored, and its error is nobody's words."""

from pathlib import Path

from fourtier.schema.message import Scope
from tests.agents.react_mem.test_agent import agent
from tests.support.model import Fails, Says
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
QUESTION = "Where does the violoncello stand?"


async def test_the_question_is_stored_and_the_error_is_not(tmp_path: Path) -> None:
    script = (Fails(429), Says("Behind the barn."))
    async with agent(tmp_path, *script, archive=True) as (_, client, model):
        failed = await client.answer(QUESTION, user="ann", conversation_id="c1")

        async def archived() -> bool:
            return bool((await client.archive.search(ANN, QUESTION)).hits)

        await wait_until(archived)
        entries = await client.archive.search(ANN, "violoncello model error 429")
        record = await client.conversations.get(ANN, "c1")
        await client.answer(f"{QUESTION} I ask again.", user="ann", conversation_id="c2")

    assert failed.error
    assert "429" in failed.reason
    assert [hit.entry.content for hit in entries.hits] == [QUESTION]
    (run,) = record.invocations
    assert (run.query, run.result) == (QUESTION, "")
    assert QUESTION in model.requests[-1].text
    for words in ("429", "No answer", failed.reason):
        assert words not in model.requests[-1].text
