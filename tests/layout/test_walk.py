"""One call from the client to its store and back passes the files that CONTRIBUTING.md names."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulsar.asyncio as pulsar_asyncio
import pytest

from fourtier.client import client_on
from fourtier.memory.facts.store import FactStore
from fourtier.runtime.rpc.handler_loop import HandlerLoop
from fourtier.schema import Scope
from tests.support.flow import running_flow

ROOT = Path("services").absolute()
ANN = Scope("ann", "default")
MAX_FILES = 9


def walk() -> list[str]:
    """The files of the page, in their order."""
    page = Path("CONTRIBUTING.md").read_text("utf-8")
    section = page[page.index("## One call,") : page.index("## How to add a service")]
    return re.findall(r"^\d+\. `([\w./]+)`", section, re.MULTILINE)


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
    file = Path(inspect.getsourcefile(function) or "")
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


def finds_nothing(search: Callable[..., Any]) -> Callable[..., Any]:
    """A search that is entered and left at once."""

    async def nothing(*arguments: Any, **options: Any) -> list[Any]:
        search(*arguments, **options).close()
        return []

    return nothing


def test_the_walk_has_at_most_nine_files_and_each_is_there() -> None:
    assert len(walk()) == MAX_FILES
    assert not [file for file in walk() if not Path(file).is_file()]


async def test_a_search_passes_the_files_of_the_walk_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services: dict[str, dict[str, Any]] = {"embeddings": {}, "facts": {}}
    async with (
        running_flow(tmp_path, services, bus="embedded") as flow,
        client_on(flow.bus) as client,
    ):
        await client.facts.store(ANN, "I live in Oslo.")
        flow.bus.local = None  # as it is where the service is in another process
        passed = Passed(monkeypatch)
        passed.at(pulsar_asyncio.Producer, "send")  # the question, and the answer
        passed.at(pulsar_asyncio.Consumer, "receive")
        passed.at(HandlerLoop, "one")
        passed.at(FactStore, "search")
        # What the store does is behind its door; it would ask `embeddings` by another such call.
        monkeypatch.setattr(FactStore, "search", finds_nothing(FactStore.search))
        found = await client.facts.search(ANN, "Where do I live?")

    assert found == ()
    assert {file for stack in passed.stacks for file in stack} == set(walk())
    assert [walk()[0], *walk()[1:3]] in passed.stacks  # the question on its way out
