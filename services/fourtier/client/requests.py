"""Make a request from a call's arguments, and say in words which of them cannot be used."""

from typing import Any, TypeVar

from pydantic import ValidationError

from fourtier.runtime.errors import FourtierError
from fourtier.runtime.validation import in_words
from fourtier.schema.message import Message

M = TypeVar("M", bound=Message)


class InvalidRequestError(FourtierError, ValueError):
    """An argument has a value that the message cannot carry; nothing was sent."""

    type = "invalid-request"


def new_request(model: type[M], **fields: Any) -> M:
    """Make a message.

    Raises:
        InvalidRequestError: names each field that is wrong, and why.
    """
    try:
        return model(**fields)
    except ValidationError as error:
        raise InvalidRequestError(in_words(error, "the request")) from error
