"""Errors that Fourtier raises on purpose.

FourtierError
├── StartupError       the flow cannot start: one clear line, exit code 2
├── RefusedError       the message itself is wrong: never retried
│   └── MalformedError its payload is not what its topic carries
├── OverloadedError    there is too much to do: come back later
├── CallFailedError    a service answered a call with an error
└── AwayError          what is needed cannot be reached now: it is waited for
    └── NoAnswerError  a service did not answer a call before its deadline
        └── LostPieceError a part of its answer did not arrive
"""

from fourtier.schema.message import Error


class FourtierError(Exception):
    """Base of all.

    Attributes:
        type: the stable name that goes on the wire.
        temporary: whether the same may well succeed later; it is waited for then.
    """

    type: str = "internal"
    temporary: bool = False


class StartupError(FourtierError):
    """Something that the flow needs is missing, busy or misconfigured; says what to do."""

    type = "startup"


class RefusedError(FourtierError):
    """The message cannot be handled as it is, however often it is tried."""

    type = "refused"


class MalformedError(RefusedError):
    """The payload is not what the topic carries; names the fields."""

    type = "malformed"


class OverloadedError(FourtierError):
    """A service has more to do than it takes on; says when there is room again."""

    type = "overloaded"
    temporary = True

    def __init__(self, topic: str, in_hand: int, retry_after: int) -> None:
        seconds = "1 second" if retry_after == 1 else f"{retry_after} seconds"
        super().__init__(
            f"there is too much to do on {topic}, {in_hand} messages are in hand: "
            f"come back in {seconds}"
        )
        self.retry_after = retry_after


class CallFailedError(FourtierError):
    """A service answered with an error; type, text and `temporary` are that service's words.

    Attributes:
        retry_after: seconds after which asking again makes sense, if the service said so.
    """

    def __init__(self, topic: str, error: Error) -> None:
        super().__init__(f"{topic}: {error.message}")
        self.topic = topic
        self.type = error.type
        self.temporary = error.temporary
        self.message = error.message
        self.retry_after = error.retry_after


class AwayError(FourtierError):
    """An engine cannot be reached or is not ready now; it is expected back."""

    type = "away"
    temporary = True


class NoAnswerError(AwayError):
    """No replica answered in time: the service is not running, overloaded or cut off."""

    type = "no-answer"

    def __init__(self, topic: str, seconds: float) -> None:
        super().__init__(
            f"no answer on {topic} within {seconds:g} seconds: is its service running?"
        )
        self.topic = topic


class LostPieceError(NoAnswerError):
    """Pieces of a stream got lost on the way, as when the broker was started again in between."""

    def __init__(self, topic: str) -> None:
        FourtierError.__init__(self, f"a piece of the answer on {topic} got lost")
        self.topic = topic
