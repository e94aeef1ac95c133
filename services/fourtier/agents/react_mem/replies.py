"""The stream of replies: in pieces as they come where streaming is asked for, whole otherwise."""

from collections.abc import Iterator
from typing import Literal

from fourtier.agents.react_mem.reasoning import Usage
from fourtier.runtime.errors import FourtierError
from fourtier.schema.agent import AgentResponse, RunMetadata

Kind = Literal["thought", "action", "observation", "answer", "error"]


class Replies:
    """Makes the replies of one run; a message's id is the same when a run is continued."""

    def __init__(self, run_id: str, *, streaming: bool) -> None:
        self._run_id = run_id
        self._streaming = streaming

    def piece(self, step: int, kind: Kind, content: str) -> Iterator[AgentResponse]:
        """A piece of a message that is not finished; nothing without streaming."""
        if self._streaming:
            yield self._reply(step, kind, content, end_of_message=False)

    def whole(
        self, step: int, kind: Kind, content: str, *, pieces: bool
    ) -> Iterator[AgentResponse]:
        """The end of a message; with streaming its pieces, if it had any, are sent already."""
        if content:
            rest = "" if self._streaming and pieces else content
            yield self._reply(step, kind, rest, end_of_message=True)

    def final(
        self, step: int, answer: str, metadata: RunMetadata, usage: Usage, *, pieces: bool
    ) -> AgentResponse:
        """The last reply of a run that has an answer."""
        rest = "" if self._streaming and pieces else answer
        return self._reply(step, "answer", rest, end_of_message=True).model_copy(
            update={
                "end_of_dialog": True,
                "in_token": usage.in_token,
                "out_token": usage.out_token,
                "model": usage.model or None,
                "metadata": metadata,
            }
        )

    def failed(
        self, step: int, error: FourtierError, metadata: RunMetadata, usage: Usage
    ) -> AgentResponse:
        """The last reply of a run that has no answer."""
        return self._reply(step, "error", str(error), end_of_message=True).model_copy(
            update={
                "end_of_dialog": True,
                "error": error.type,
                "retry_after": error.retry_after,
                "in_token": usage.in_token,
                "out_token": usage.out_token,
                "model": usage.model or None,
                "metadata": metadata,
            }
        )

    def _reply(self, step: int, kind: Kind, content: str, *, end_of_message: bool) -> AgentResponse:
        return AgentResponse(
            message_type=kind,
            content=content,
            message_id=f"{self._run_id}/{step}/{kind}",
            end_of_message=end_of_message,
        )
