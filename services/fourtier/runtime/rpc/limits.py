"""How long handlers may take: the section `limits` of a flow file."""

from pydantic import Field

from fourtier.runtime.config import Config
from fourtier.runtime.rpc.routes import Route


class Limits(Config):
    """In seconds. A handler that takes longer is ended, and its message retried."""

    handler_seconds: float = Field(
        default=120, gt=0, description="for a message, or a batch of them"
    )
    stream_seconds: float = Field(
        default=600, gt=0, description="between two messages of an answer that streams"
    )

    def of(self, route: Route) -> float:
        """The limit of a route: its own, or that of its kind."""
        if route.timeout is not None:
            return route.timeout
        return self.handler_seconds if route.last is None else self.stream_seconds
