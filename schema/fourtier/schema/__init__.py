"""Public: every message of Fourtier and the topic that it travels on; needs pydantic alone.

The messages of each service are in the module of its name, such as `fourtier.schema.facts`. What
all of them are made of is here.
"""

from fourtier.schema.message import (
    Answer,
    Error,
    Identifier,
    Message,
    Metadata,
    Name,
    Scope,
    Scoped,
    Timestamp,
    Vector,
)
from fourtier.schema.topics import Call, Topic, by_scope, command, query

__all__ = [
    "Answer",
    "Call",
    "Error",
    "Identifier",
    "Message",
    "Metadata",
    "Name",
    "Scope",
    "Scoped",
    "Timestamp",
    "Topic",
    "Vector",
    "by_scope",
    "command",
    "query",
]
