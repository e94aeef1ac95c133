"""Messages of opting out: whether a user is remembered, which every service with a store knows."""

from typing import Self

from pydantic import Field, model_validator

from fourtier.schema.message import Answer, Identifier, Message, Timestamp
from fourtier.schema.topics import Call, command


class OptOutRequest(Message):
    """Say whether a user is remembered, in all of the user's collections; or ask.

    While a user is opted out nothing is stored of them, and what is stored is not used. What they
    said meanwhile is not stored afterwards either, by no replay and no redelivery.

    Raises:
        ValueError: `forget` without opting out.
    """

    user: Identifier
    opted_out: bool | None = Field(
        default=None, description="None changes nothing: the answer says how it is"
    )
    forget: bool = Field(
        default=False, description="delete for good what is stored of the user, when opting out"
    )

    @model_validator(mode="after")
    def _forget_goes_with_opting_out(self) -> Self:
        if self.forget and not self.opted_out:
            raise ValueError("`forget` goes with `opted_out`")
        return self


class OptOutResponse(Answer):
    """How it is now, on disk.

    `by_flow` is True for a user whom the flow file opts out: no call changes that.
    """

    opted_out: bool
    since: Timestamp | None = Field(default=None, description="set while a call has opted out")
    by_flow: bool = False
    forgotten: int = Field(default=0, description="memories that were deleted")


def _by_user(message: OptOutRequest) -> str:
    return message.user


def opting_out(service: str) -> Call[OptOutRequest, OptOutResponse]:
    """The call that tells a service whether a user is remembered."""
    return command(f"{service}.opt-out", OptOutRequest, OptOutResponse, key=_by_user)


OPT_OUT_FACTS = opting_out("facts")
OPT_OUT_EPISODES = opting_out("episodes")
OPT_OUT_CONVERSATIONS = opting_out("conversations")
OPT_OUT_WORKING_MEMORY = opting_out("working-memory")
