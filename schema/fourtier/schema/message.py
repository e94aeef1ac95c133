"""What every message on the bus has in common.

Messages are frozen pydantic models, UTF-8 JSON on the wire. Fields that a reader does not know are
ignored, so that old and new replicas work side by side; a field of the wrong type is refused.
"""

import array
import base64
import binascii
import sys
from collections.abc import Iterable
from typing import Annotated, NamedTuple, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    field_validator,
)

#: A moment with its time zone, ISO 8601 on the wire.
Timestamp = AwareDatetime

#: Free key-value data that travels with a memory.
Metadata = dict[str, JsonValue]

#: A name that a scope, a conversation or a record is found by; never empty.
Name = Annotated[str, Field(min_length=1, max_length=512)]


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


class Scoped(Message):
    """A message that belongs to one user's collection."""

    user: Name
    collection: Name = "default"

    @property
    def scope(self) -> Scope:
        """User and collection as the one value that stores ask for."""
        return Scope(self.user, self.collection)


class Error(Message):
    """Why a call failed: a stable `type` for programs and a `message` for people.

    `retry_after` is set where asking again makes sense, in seconds. `temporary` is set where
    nothing is wrong with the question: something that the service needs is away at the moment.
    """

    type: str
    message: str
    retry_after: float | None = None
    temporary: bool = False


class Answer(Message):
    """Base of what a call answers. A failed call answers `{"error": {...}}` and nothing else."""

    error: Error | None = None


class Vector(RootModel[str]):
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
