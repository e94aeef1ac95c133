"""Make a request from a call's arguments, and say in words which of them cannot be used."""

from typing import Any, TypeVar

from pydantic import ValidationError

from fourtier.runtime.errors import FourtierError
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.validation import in_words
from fourtier.schema.message import Answer, Message, Scope, Scoped
from fourtier.schema.topics import Call

M = TypeVar("M", bound=Message)
Q = TypeVar("Q", bound=Scoped)
A = TypeVar("A", bound=Answer)


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


class ScopedCalls:
    """Base of the memory calls: each is about the memory of one scope."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def _call(self, call: Call[Q, A], scope: Scope, **fields: Any) -> A:
        """Ask a service about a scope.

        Raises:
            InvalidRequestError: an argument cannot be used.
            CallFailedError: the service answered with an error.
            DeadlineExceededError: no answer before the call's deadline.
            BusError: the broker did not take the request.
        """
        request = new_request(
            call.topic.payload, user=scope.user, collection=scope.collection, **fields
        )
        return await self._caller.call(call, request)
