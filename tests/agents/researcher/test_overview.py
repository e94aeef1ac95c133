"""The planner by a model sees memos of the archive, and may read the pages that they are of."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fourtier.models.text.tokens import count_tokens
from fourtier.schema.archive import SET_MEMO, ArchivePage, SetMemoRequest
from fourtier.schema.researcher import RESEARCH, ResearchProgress, ResearchRequest
from tests.agents.researcher.model import Played, plan
from tests.agents.researcher.test_research import evidence, receipt
from tests.memory.archive.documents import part, store
from tests.memory.memoriser.pages import pages
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import ModelRequest, Reply, scripted_model

QUESTION = "Which colour has the sail of the Skarv?"


@asynccontextmanager
async def researching(
    tmp_path: Path, played: Any, **parameters: Any
) -> AsyncGenerator[RunningFlow]:
    services: dict[str, dict[str, Any]] = {
        "completion": {"attempts": 1},
        "embeddings": {},
        "archive": {},
        "working-memory": {},
        "researcher": {"method": "llm", **parameters},
    }
    async with (
        scripted_model(script=played) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
    ):
        yield flow


async def research(flow: RunningFlow, user: str = "ann") -> list[ResearchProgress]:
    request = ResearchRequest(user=user, question=QUESTION, max_rounds=1)
    return [step async for step in flow.caller.stream(RESEARCH, request)]


async def with_memos(flow: RunningFlow, number: int, *, words: int = 1) -> list[ArchivePage]:
    """So many documents of a page with a memo each; those of higher numbers are newer."""
    for each in range(number):
        await store(flow, part([f"Text {each} of the harbour."], document=f"d{each:03}"))
    found = await pages(flow)
    for page in found:
        text = f"What {page.source} says of boats. {'word ' * words}"
        await flow.caller.call(
            SET_MEMO,
            SetMemoRequest(
                user="ann",
                page_id=page.id,
                page_hash=page.page_hash,
                content=text,
                method="rule",
            ),
        )
    return found


def naming(*handles: str) -> Played:
    written = plan(page_index=list(handles))
    return Played(plan=written)


async def test_pages_whose_memos_the_planner_names_are_read_as_a_whole(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Reply:
        shown = request.last
        line = next(line for line in shown.splitlines() if "What sails says" in line)
        return plan(page_index=[line.removeprefix("- ").split()[0]])

    played = Played(plan=script)
    async with researching(tmp_path, played) as flow:
        blocks = ["It is about cloth.", "Red it was.", "And patched."]
        await store(flow, part(blocks, document="sails"))
        await with_memos(flow, 3)
        made = await research(flow)

        (wanted,) = [page for page in await pages(flow) if page.source == "sails"]
        (search,) = [each for each in made[0].searches if each.kind == "page"]
        assert (search.page_id, search.query) == (wanted.id, "page 1 of sails")
        assert (made[0].searches[0].query, made[0].searches[0].kind) == (QUESTION, "question")
        hits = [step for step in made if step.step == "hits"]
        # What the question finds, and the three entries of the page once more.
        assert hits[0].found == hits[0].new + 3
        assert receipt(made).degraded == {}
        read = played.shown("integrate")[0]
        assert all(f"sails (2026-03-01): {block}" in read for block in blocks)


async def test_a_page_that_only_a_memo_leads_to_comes_into_the_pool(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Reply:
        line = next(line for line in request.last.splitlines() if "What d045 says" in line)
        return plan(page_index=[line.removeprefix("- ").split()[0]])

    async with researching(tmp_path, Played(plan=script)) as flow:
        await with_memos(flow, 46)
        made = await research(flow)
        (wanted,) = [page for page in await pages(flow) if page.source == "d045"]
        found = next(step for step in made if step.step == "hits")
        assert found.found == 41
        assert any(each.page_id == wanted.id for each in made[0].searches)


async def test_invented_and_sixth_pages_are_dropped(tmp_path: Path) -> None:
    played = naming("M99", "M1", "m2", "[M3]", "M1", "E1", "", "M4", "M5", "M6")
    async with researching(tmp_path, played) as flow:
        await with_memos(flow, 8)
        made = await research(flow)
        named = [each for each in made[0].searches if each.kind == "page"]
        shown = dict(re.findall(r"^- (M\d+) \S+ (d\d+):", played.shown("plan")[0], re.MULTILINE))
        sources = {page.source: page.id for page in await pages(flow)}
        assert [each.page_id for each in named] == [sources[shown[f"M{n}"]] for n in range(1, 6)]
        assert receipt(made).degraded == {}
        assert evidence(made)


async def test_memos_are_half_similar_half_new_and_within_their_tokens(tmp_path: Path) -> None:
    played = Played()
    async with researching(tmp_path, played, **{"memo-tokens": 400}) as flow:
        await with_memos(flow, 30, words=20)
        await research(flow)
        (shown,) = played.shown("plan")
        memos = shown[shown.index("Memos of the archive's pages, ") :]
        items = [line for line in memos.splitlines() if line.startswith("- M")]
        assert 4 < len(items) < 20
        assert memos.startswith(f"Memos of the archive's pages, {len(items)} of 30 shown:")
        assert sum(count_tokens(item.removeprefix("- ")) for item in items) <= 400
        assert len({item.split(" ", 2)[2] for item in items}) == len(items), "each once"
        assert len({item.split()[1] for item in items}) == len(items)


async def test_nobody_is_shown_the_memos_of_others(tmp_path: Path) -> None:
    played = naming("M1")
    async with researching(tmp_path, played) as flow:
        await with_memos(flow, 2)
        made = await research(flow, "bob")
        assert played.shown("plan") == [f"Question:\n{QUESTION}"]
        assert [each.kind for each in made[0].searches] == ["question"]
