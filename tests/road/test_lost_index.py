"""An index that was lost is not taken for an empty memory: the graph knows what it should have."""

import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.operations.reindexing import reindex_archive, reindex_facts
from fourtier.runtime.errors import CallFailedError
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Says, scripted_model
from tests.support.waiting import wait_until

pytestmark = pytest.mark.embedded

ANN = Scope("ann", "default")
STATEMENT = "My budget for the Hawaii trip is 8,450 dollars."
QUESTION = "What was my budget for the trip?"

Search = Callable[[Client], Awaitable[Any]]
Reindex = Callable[[Client], Awaitable[object]]


async def facts(client: Client) -> list[str]:
    return [fact.content for fact in await client.facts.search(ANN, "budget")]


async def names(client: Client) -> list[str]:
    return [each.name for each in await client.facts.names(ANN)]


async def entries(client: Client) -> list[str]:
    found = await client.archive.search(ANN, "budget")
    return [hit.entry.content for hit in found.hits]


@asynccontextmanager
async def road(data: Path) -> AsyncGenerator[Client]:
    async with (
        scripted_model(script=lambda _request: Says("Noted.")) as model,
        running_flow(data, ROAD, bus="embedded", settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        yield client


async def all_found(client: Client, searches: Sequence[Search], expected: Sequence[str]) -> bool:
    """Whether each search finds what is expected of it."""
    try:
        return all(
            [text in await search(client) for search, text in zip(searches, expected, strict=True)]
        )
    except CallFailedError:
        return False


def lose(data: Path, index: str, *, manifest: bool) -> None:
    """As a disk that was changed, or a directory that somebody has cleaned up."""
    (service,) = data.glob(f"*/{index}")
    shutil.rmtree(service)
    if manifest:
        service.with_name(f"manifest-{index}.json").unlink()


@pytest.mark.parametrize("manifest", [False, True])
@pytest.mark.parametrize(
    ("index", "searches", "expected", "reindex"),
    [
        ("vectors-facts", (facts, names), (STATEMENT, "Hawaii"), reindex_facts),
        ("vectors-archive", (entries,), (STATEMENT,), reindex_archive),
    ],
)
async def test_a_lost_index_says_so_until_it_is_made_again(
    tmp_path: Path,
    index: str,
    searches: tuple[Search, ...],
    expected: tuple[str, ...],
    reindex: Reindex,
    *,
    manifest: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with road(tmp_path) as client:
        await client.answer(STATEMENT, user="ann")

        await wait_until(lambda: all_found(client, searches, expected))
    lose(tmp_path, index, manifest=manifest)
    caplog.clear()

    async with road(tmp_path) as client:
        remedy = f"fourtier {index.removeprefix('vectors-')} reindex"
        assert remedy in caplog.text
        for search in searches:
            with pytest.raises(CallFailedError, match=remedy):
                await search(client)
        answered = await client.answer(QUESTION, user="ann")
        assert remedy in answered.metadata.tiers_left_out[index.removeprefix("vectors-")]

        await reindex(client)
        # The answer to the question may be on its way to the index still.
        await wait_until(lambda: all_found(client, searches, expected))
