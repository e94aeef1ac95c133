"""Errors that Fourtier raises on purpose.

FourtierError
├── StartupError               the flow cannot start: one clear line, exit code 2
├── PermanentError             the message itself is wrong: never retried
│   ├── MalformedError         its payload is not what its topic carries
│   └── RejectedByPolicyError   the flow's settings reject it; it is stored nowhere
│       ├── PersonalDataError  it has personal data of a kind that they reject
│       └── QuotaExceededError there is no room for it
├── OverloadedError            too much is in flight: retry later
├── HandlerTimeoutError        a handler took longer than its time limit
├── CancelledByCallerError     its caller does not wait for a handler any more
├── CallFailedError            a service answered a call with an error
├── UnavailableError           what is needed cannot be reached now: it is waited for
│   └── DeadlineExceededError  a service did not answer a call before its deadline
│       └── LostAnswerError    a part of its answer did not arrive
└── BusError                   in `bus/contract.py`: the broker failed or cannot be reached
"""

from fourtier.schema.message import Error


class FourtierError(Exception):
    """Base of all.

    Attributes:
        type: the stable name that goes on the wire.
        temporary: whether the same may well succeed later; it is waited for then.
        retry_after: seconds after which asking again makes sense, where that is known.
    """

    type: str = "internal"
    temporary: bool = False
    retry_after: float | None = None


class StartupError(FourtierError):
    """Something that the flow needs is missing, busy or misconfigured; says what to do."""

    type = "startup"


class PermanentError(FourtierError):
    """The message cannot be handled as it is, however often it is tried."""

    type = "permanent"


class MalformedError(PermanentError):
    """The payload is not what the topic carries; names the fields."""

    type = "malformed"


class RejectedByPolicyError(PermanentError):
    """The flow's settings reject it: its sender is told, and no dead letter is made."""

    type = "rejected-by-policy"


class PersonalDataError(RejectedByPolicyError):
    """It has personal data of a kind that the flow rejects."""

    type = "personal-data"


class QuotaExceededError(RejectedByPolicyError):
    """There is no room for it, and the flow evicts nothing for what is new."""

    type = "quota-exceeded"


class OverloadedError(FourtierError):
    """A service has more to do than it takes on; says when there is room again."""

    type = "overloaded"
    temporary = True

    def __init__(self, topic: str, in_flight: int, retry_after: int) -> None:
        seconds = "1 second" if retry_after == 1 else f"{retry_after} seconds"
        super().__init__(
            f"there is too much to do on {topic}, {in_flight} messages are in flight: "
            f"come back in {seconds}"
        )
        self.retry_after = retry_after


class HandlerTimeoutError(FourtierError):
    """A handler took longer than its time limit, and was ended."""

    type = "handler-timeout"

    def __init__(self, topic: str, seconds: float) -> None:
        super().__init__(f"the handler of {topic} made no progress for {seconds:g} seconds")


class CancelledByCallerError(FourtierError):
    """The caller does not wait any more; the work is ended, and counts as done."""

    type = "cancelled"

    def __init__(self, topic: str) -> None:
        super().__init__(f"a call on {topic} was cancelled by its caller")


class CallFailedError(FourtierError):
    """A service answered with an error: type, text, `temporary` and `retry_after` are its words."""

    def __init__(self, topic: str, error: Error) -> None:
        super().__init__(f"{topic}: {error.message}")
        self.topic = topic
        self.type = error.type
        self.temporary = error.temporary
        self.message = error.message
        self.retry_after = error.retry_after


class UnavailableError(FourtierError):
    """An engine cannot be reached or is not ready now; it is expected back."""

    type = "unavailable"
    temporary = True


class DeadlineExceededError(UnavailableError):
    """No replica answered in time: the service is not running, overloaded or cut off."""

    type = "deadline-exceeded"

    def __init__(self, topic: str, seconds: float) -> None:
        super().__init__(
            f"no answer on {topic} within {seconds:g} seconds: is its service running?"
        )
        self.topic = topic


class LostAnswerError(DeadlineExceededError):
    """Parts of a stream got lost, as when the broker was started again in between."""

    def __init__(self, topic: str) -> None:
        FourtierError.__init__(self, f"a part of the answer on {topic} got lost")
        self.topic = topic
