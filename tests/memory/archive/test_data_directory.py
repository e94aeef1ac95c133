"""What forgetting documents leaves in the files of the embedded engines: nothing."""

from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.schema.archive import ERASE_ARCHIVE
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope
from tests.forgetting.bytes import canary, find
from tests.memory.archive.documents import part, store
from tests.memory.archive.test_archive_service import search
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

pytestmark = pytest.mark.embedded

ANN = Scope("ann", "default")
SERVICES: dict[str, dict[str, Any]] = {"embeddings": {}, "archive": {}}


async def test_no_byte_of_a_forgotten_document_is_in_the_data(tmp_path: Path) -> None:
    words = {name: canary() for name in ("name", "block", "alone", "old", "tail", "retained")}
    name = f"{words['name']}.txt"
    first = [f"A {words['block']} here.", f"A {words['alone']}.", f"An {words['old']}."]
    blocks = [*first, f"A {words['tail']}."]
    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        await store(flow, part(blocks, document=name), part([words["retained"]], document="other"))
        places = {
            (Path(each.file).parts[0], each.canary) for each in find(tmp_path, words.values())
        }
        assert places >= {("archive", word) for word in words.values()}

    async with running_flow(tmp_path, SERVICES, bus="embedded") as flow:
        await store(flow, part([*first[:2], "Another text."], document=name, version=2))
        (hit, *_) = await search(flow, words["alone"], legs=("words",))
        assert (
            await flow.caller.call(ERASE_ARCHIVE, EraseRequest(user="ann", ids=(hit.entry.id,)))
        ).number == 1
    left = {each.canary for each in find(tmp_path, words.values())}
    assert left == {words[each] for each in ("name", "block", "retained")}

    async with (
        running_flow(tmp_path, SERVICES, bus="embedded") as flow,
        client_on(flow.bus) as client,
    ):
        assert (await client.forget.document(ANN, name)).number == 2

    async def gone() -> bool:
        return {each.canary for each in find(tmp_path, words.values())} == {words["retained"]}

    await wait_until(gone)
