"""Server-sent events: the data of each, from bytes as they arrive."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from fourtier.models.completion.errors import ModelMalformedError

#: Bytes of a line; one that is longer is not part of a chat.
_MAX_LINE = 4_000_000


async def events(body: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """The data of each event; comments and other fields are left out.

    Raises:
        ModelMalformedError: the body is not UTF-8 or has a line without end.
    """
    data: list[str] = []
    async with aclosing(_lines(body)) as lines:
        async for line in lines:
            if line.startswith("data:"):
                data.append(line.removeprefix("data:").removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
    if data:  # some servers leave out the empty line after the last event
        yield "\n".join(data)


async def _lines(body: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    rest = b""
    async for piece in body:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield _text(line)
        if len(rest) > _MAX_LINE:
            raise ModelMalformedError(f"the endpoint sent more than {_MAX_LINE} bytes in one line")
    if rest:
        yield _text(rest)


def _text(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise ModelMalformedError(f"the endpoint sent what is not UTF-8: {error}") from error
