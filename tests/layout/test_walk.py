"""One call from the client to its store and back runs code of the files that CONTRIBUTING.md names.

Nine are on the way, which the stack shows: each calls the next one. Others are asked beside it and
return; a profile shows them.
"""

import functools
import inspect
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self

import pulsar.asyncio as pulsar_asyncio
import pytest

from fourtier.client import Client, client_on
from fourtier.memory.facts.store import FactStore
from fourtier.runtime.rpc.handler_loop import HandlerLoop
from fourtier.schema import Scope
from tests.support.flow import running_flow

ROOT = Path("services").absolute()
ANN = Scope("ann", "default")
MAX_FILES = 9


#: Calls that are compared: what happens now and then besides is not in each of them.
CALLS = 5


def listed(pattern: str) -> list[str]:
    page = Path("CONTRIBUTING.md").read_text("utf-8")
    section = page[page.index("## One call,") : page.index("## How to add a service")]
    return re.findall(pattern, section, re.MULTILINE)


def walk() -> list[str]:
    """The files of the way, in their order."""
    return listed(r"^\d+\. `([\w./]+)`: \w")


def beside() -> list[str]:
    """The files that are asked on the way."""
    return listed(r"^- `([\w./]+)`: \w")


def files_on_the_stack() -> list[str]:
    """Fourtier's files from here outwards, each once, the one that called first."""
    found: dict[str, None] = {}
    frame = sys._getframe(1)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(ROOT):
            found[str(file.relative_to(ROOT.parent))] = None
        frame = frame.f_back
    return list(reversed(found))


def files_of(function: Callable[..., Any]) -> list[str]:
    """The file of a function, if it is one of Fourtier's."""
    file = Path(inspect.getsourcefile(inspect.unwrap(function)) or "")
    return [str(file.relative_to(ROOT.parent))] if file.is_relative_to(ROOT) else []


class Passed:
    """Notes which files are on the stack whenever something is called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stacks: list[list[str]] = []
        self._monkeypatch = monkeypatch

    def at(self, owner: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        own = files_of(original)

        def noted(*arguments: Any, **options: Any) -> Any:
            self.stacks.append(list(dict.fromkeys([*files_on_the_stack(), *own])))
            return original(*arguments, **options)

        self._monkeypatch.setattr(owner, name, noted)


class Entered:
    """Notes the files of which code runs in this thread; as a context, it watches inside."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._root = f"{ROOT}/"

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(self._root):
            self.files.add(str(Path(file).relative_to(ROOT.parent)))


@asynccontextmanager
async def searchable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Client]:
    """A client of a flow with a fact, on the embedded broker, whose store finds nothing."""
    services: dict[str, dict[str, Any]] = {"embeddings": {}, "facts": {}}
    async with (
        running_flow(tmp_path, services, bus="embedded") as flow,
        client_on(flow.bus) as client,
    ):
        await client.facts.store(ANN, "I live in Oslo.")
        flow.bus.local = None  # as it is where the service is in another process
        # What the store does is behind its door; it would ask `embeddings` by another such call.
        monkeypatch.setattr(FactStore, "search", finds_nothing(FactStore.search))
        yield client


def finds_nothing(search: Callable[..., Any]) -> Callable[..., Any]:
    """A search that is entered and left at once."""

    @functools.wraps(search)
    async def nothing(*arguments: Any, **options: Any) -> list[Any]:
        search(*arguments, **options).close()
        return []

    return nothing


def test_the_way_has_at_most_nine_files_and_each_is_there() -> None:
    assert len(walk()) == MAX_FILES
    assert not [file for file in (*walk(), *beside()) if not Path(file).is_file()]


async def test_a_search_runs_code_of_the_files_of_both_lists_and_of_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[set[str]] = []
    async with searchable(tmp_path, monkeypatch) as client:
        await client.facts.search(ANN, "Where do I live?")  # opens what stays open
        for _ in range(CALLS):
            with Entered() as entered:
                await client.facts.search(ANN, "Where do I live?")
            calls.append(entered.files)

    assert sorted(set.intersection(*calls)) == sorted([*walk(), *beside()])


async def test_a_search_passes_the_files_of_the_way_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with searchable(tmp_path, monkeypatch) as client:
        passed = Passed(monkeypatch)
        passed.at(pulsar_asyncio.Producer, "send")  # the question, and the answer
        passed.at(pulsar_asyncio.Consumer, "receive")
        passed.at(HandlerLoop, "one")
        passed.at(FactStore, "search")
        found = await client.facts.search(ANN, "Where do I live?")

    assert found == ()
    assert {file for stack in passed.stacks for file in stack} == set(walk())
    assert [walk()[0], *walk()[1:3]] in passed.stacks  # the question on its way out
