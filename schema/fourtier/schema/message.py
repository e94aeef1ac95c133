"""What every message on the bus has in common.

Messages are frozen pydantic models, UTF-8 JSON on the wire. Fields that a reader does not know are
ignored, so that old and new replicas can run at the same time; a field of the wrong type makes the
message malformed. Every field that a caller fills has a maximum size: the sized types below, in
characters. A message that exceeds one is malformed and is rejected before it is handled.
"""

import array
import base64
import binascii
import json
import sys
from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    field_validator,
)

from fourtier.schema.visible import MAX_NAME, normal_name, normal_optional_name, not_blank

#: Characters of metadata or of arguments, written as JSON.
_MAX_METADATA, _MAX_ARGUMENTS = 32_000, 200_000
#: Characters of a vector: 16,384 dimensions of four bytes, in base64.
_MAX_VECTOR = 87_384

#: A point in time with its time zone, ISO 8601 on the wire.
Timestamp = AwareDatetime

#: The name of a user, a collection or a conversation, as people type it: those that look alike are
#: one, see `normal_name`.
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(normal_name)]
#: The same of one that may be left out.
OptionalIdentifier = Annotated[
    str, Field(max_length=MAX_NAME), AfterValidator(normal_optional_name)
]

#: A name that a record or a tool is found by; never empty.
Name = Annotated[str, Field(min_length=1, max_length=512)]

#: A name that may be left out.
OptionalName = Annotated[str, Field(max_length=512)]

#: The speaker of what the assistant says and stores.
ASSISTANT = "assistant"

#: A sentence or a paragraph: a fact, a goal, a step, a lesson, a search query.
ShortText = Annotated[str, Field(max_length=8_000)]

MAX_LONG_TEXT = 200_000
#: A document: a question, an answer, the result of a tool. Six times this stays below the 5 MB that
#: the bus takes in one message, even where each character takes four bytes.
LongText = Annotated[str, Field(max_length=MAX_LONG_TEXT)]

#: The largest number of items in a list that a caller fills, where no smaller number is given.
MAX_ITEMS = 1_000

#: The largest number of memories that one run may find, of all tiers together.
MAX_MEMORIES = 10_000

#: The largest offset and limit of a page, which every store can represent.
MAX_OFFSET = 2**31 - 1

#: A check of a text that must say something; it stays byte for byte as it was given.
Visible = AfterValidator(not_blank)


def _limited(characters: int, what: str) -> AfterValidator:
    """A check of the size of an object; its keys, nesting and values all count.

    Raises:
        ValueError: the object has more characters as JSON.
    """

    def check(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if value and (size := len(json.dumps(value, ensure_ascii=False))) > characters:
            raise ValueError(f"{what} has {size} characters as JSON, at most {characters} fit")
        return value

    return AfterValidator(check)


#: Free key-value data that travels with a memory.
Metadata = Annotated[dict[str, JsonValue], _limited(_MAX_METADATA, "metadata")]

#: The arguments of a tool call, which may hold a document.
Arguments = Annotated[dict[str, JsonValue], _limited(_MAX_ARGUMENTS, "arguments")]


#: Why a memory is not stored. It was `forgotten` after it had been said; its user has `opted-out`,
#: or had when it was said; it has `expired` by the flow's retention; or its scope is full of what
#: is worth more, so that it was `evicted` at once.
NotStored = Literal["forgotten", "opted-out", "expired", "evicted"]


class Message(BaseModel):
    """Base of every payload and of every model inside one."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Scope(NamedTuple):
    """Whose memory: every stored thing and every query carries one."""

    user: str
    collection: str

    @property
    def key(self) -> str:
        """One string for both parts, without two scopes that share it."""
        return f"{len(self.user)}:{self.user}/{self.collection}"

    @classmethod
    def of_key(cls, key: str) -> Self:
        """The scope that a key stands for."""
        length, _, names = key.partition(":")
        return cls(names[: int(length)], names[int(length) + 1 :])


class Scoped(Message):
    """A message that belongs to one user's collection."""

    user: Identifier
    collection: Identifier = "default"

    @property
    def scope(self) -> Scope:
        """User and collection as the one value that stores ask for."""
        return Scope(self.user, self.collection)


class Error(Message):
    """Why a call failed: a stable `type` for programs and a `message` for people.

    `retry_after` is set where asking again makes sense, in seconds. `temporary` is set where
    nothing is wrong with the question: something that the service needs is unavailable.
    """

    type: str
    message: str
    retry_after: float | None = None
    temporary: bool = False


class Answer(Message):
    """Base of what a call answers. A failed call answers `{"error": {...}}` and nothing else."""

    error: Error | None = None


class Vector(RootModel[Annotated[str, Field(max_length=_MAX_VECTOR)]]):
    """A dense vector on the wire: base64 of little-endian float32.

    Raises:
        ValueError: the text is not base64 of whole float32 numbers.
    """

    model_config = ConfigDict(frozen=True)

    @field_validator("root")
    @classmethod
    def _whole_numbers(cls, text: str) -> str:
        try:
            raw = base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise ValueError(f"a vector is base64 of little-endian float32: {error}") from None
        if not raw or len(raw) % 4:
            raise ValueError(f"a vector is whole float32 numbers, not {len(raw)} bytes")
        return text

    @classmethod
    def of(cls, numbers: Iterable[float]) -> Self:
        """Pack numbers for the wire."""
        packed = array.array("f", numbers)
        if sys.byteorder == "big":
            packed.byteswap()
        return cls(base64.b64encode(packed.tobytes()).decode("ascii"))

    def floats(self) -> list[float]:
        """Unpack into Python floats, one for each dimension."""
        packed = array.array("f", base64.b64decode(self.root))
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tolist()
