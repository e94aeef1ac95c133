"""The type checker joins topic, payload and handler of a service."""

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
SERVICE = """
from collections.abc import AsyncIterator, Sequence

from fourtier.runtime.service import Service, answer, answer_batch, on, on_batch, stream
from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import Call, Topic, query

class Rained(Message): ...
class Ask(Message): ...
class Told(Answer): ...
class Other(Answer): ...

RAINED = Topic("rained", Rained)
ASK = query("ask", Ask, Told)
TELL: Call[Ask, Told] = Call(Topic("tell", Ask), Told, last=lambda told: True)

class Right(Service):
    @on(RAINED)
    async def a(self, event: Rained) -> None: ...
    @on_batch(RAINED)
    async def b(self, events: Sequence[Rained]) -> None: ...
    @answer(ASK)
    async def c(self, question: Ask) -> Told: return Told()
    @answer_batch(ASK)
    async def d(self, questions: Sequence[Ask]) -> list[Told]: return []
    @stream(TELL)
    async def e(self, question: Ask) -> AsyncIterator[Told]: yield Told()

class Wrong(Service):
    @on(RAINED)  # wrong
    async def a(self, event: Ask) -> None: ...
    @on_batch(RAINED)  # wrong
    async def b(self, event: Rained) -> None: ...
    @answer(ASK)  # wrong
    async def c(self, question: Ask) -> Other: return Other()
    @answer(ASK)  # wrong
    async def d(self, question: Rained) -> Told: return Told()
    @answer_batch(ASK)  # wrong
    async def e(self, questions: Sequence[Ask]) -> list[Other]: return []
    @stream(TELL)  # wrong
    async def f(self, question: Ask) -> AsyncIterator[Other]: yield Other()
    @stream(RAINED)  # wrong
    async def g(self, question: Rained) -> AsyncIterator[Told]: yield Told()
"""


def test_a_handler_of_another_payload_or_answer_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "service.py"
    file.write_text(SERVICE)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--strict", str(file)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = {n for n, line in enumerate(SERVICE.splitlines(), 1) if line.endswith("# wrong")}
    found = {int(line) for line in re.findall(r"service\.py:(\d+): error", done.stdout)}
    assert found == wrong, done.stdout
