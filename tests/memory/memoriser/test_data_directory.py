"""What forgetting leaves of memos in the files of the embedded engines: nothing."""

import json
from pathlib import Path

import pytest

from fourtier.schema.archive import ERASE_ARCHIVE
from fourtier.schema.erasure import EraseRequest
from tests.forgetting.bytes import canary, find
from tests.memory.memoriser.pages import by_model, converse, memo_of, memos_are
from tests.memory.memoriser.test_memoriser import retelling
from tests.support.flow import running_flow
from tests.support.model import scripted_model

pytestmark = pytest.mark.embedded


async def test_no_byte_of_forgotten_words_is_in_the_data_of_a_stopped_flow(tmp_path: Path) -> None:
    word, retained = canary(), canary()
    async with (
        scripted_model(script=retelling) as model,
        running_flow(tmp_path, by_model(), bus="embedded", settings=model.settings) as flow,
    ):
        await converse(flow, [f"The {word} is silver.", f"The {retained} is deep."])
        await memo_of(flow)
        await converse(flow, [f"A dog at the {retained}."], conversation_id="c2", first=9)
        before = await memo_of(flow, "c2")
        assert word in before.content, "it spread by the context"
        times = {each.file: each.times for each in find(tmp_path / "archive", [word])}
        assert sum(times.values()) > 2, f"an entry and two memos: {json.dumps(times)}"

        erased = await flow.caller.call(ERASE_ARCHIVE, EraseRequest(user="ann", containing=(word,)))
        assert erased.number == 1

        after = await memos_are(flow, lambda memos: len(memos) == 2)
        assert not any(word in memo.content for memo in after)

    left = find(tmp_path, [word])
    assert left == []
    assert find(tmp_path / "archive", [retained])
