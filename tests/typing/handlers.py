"""The type checker joins topic, payload and handler of a service.

`make lint` checks this file: mypy reports a wrong handler below, and also an `ignore` that has no
error to ignore.
"""

from collections.abc import AsyncIterator, Sequence

from fourtier.runtime.service import Service, answer, answer_batch, on, on_batch, stream
from fourtier.schema.message import Answer, Message
from fourtier.schema.topics import Call, Topic, query


class Rained(Message):
    pass


class Ask(Message):
    pass


class Reply(Answer):
    pass


class Other(Answer):
    pass


RAINED = Topic("rained", Rained)
ASK = query("ask", Ask, Reply)
ASK_ALL: Call[Ask, Reply] = Call(Topic("ask.all", Ask), Reply, last=lambda _: True)


class Right(Service):
    @on(RAINED)
    async def a(self, event: Rained) -> None: ...

    @on_batch(RAINED)
    async def b(self, events: Sequence[Rained]) -> None: ...

    @answer(ASK)
    async def c(self, question: Ask) -> Reply:
        return Reply()

    @answer_batch(ASK)
    async def d(self, questions: Sequence[Ask]) -> list[Reply]:
        return []

    @stream(ASK_ALL)
    async def e(self, question: Ask) -> AsyncIterator[Reply]:
        yield Reply()


class Wrong(Service):
    @on(RAINED)  # type: ignore[arg-type]
    async def a(self, event: Ask) -> None: ...

    @on_batch(RAINED)  # type: ignore[arg-type]
    async def b(self, event: Rained) -> None: ...

    @answer(ASK)  # type: ignore[arg-type]
    async def c(self, question: Ask) -> Other:
        return Other()

    @answer(ASK)  # type: ignore[arg-type]
    async def d(self, question: Rained) -> Reply:
        return Reply()

    @answer_batch(ASK)  # type: ignore[arg-type]
    async def e(self, questions: Sequence[Ask]) -> list[Other]:
        return []

    @stream(ASK_ALL)  # type: ignore[arg-type]
    async def f(self, question: Ask) -> AsyncIterator[Other]:
        yield Other()

    @stream(RAINED)  # type: ignore[arg-type]
    async def g(self, question: Rained) -> AsyncIterator[Reply]:
        yield Reply()
