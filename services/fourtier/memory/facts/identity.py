"""When two statements are the same fact, and the names of facts and slots."""

import uuid
from datetime import datetime

from fourtier.memory.statements.dates import relative_dates
from fourtier.memory.statements.text import normalised
from fourtier.schema.message import Scope

_NAMESPACE = uuid.UUID("5b1d3b8e-6f0c-5f3e-9a3c-0f2d4f7a61c4")


def owner_of(scope: Scope, speaker: str) -> str:
    """Whose "my" it is: the speaker's, who is the user if nothing else is said."""
    name = normalised(speaker)
    return normalised(scope.user) if name in {"", "user"} else name


def fact_id(scope: Scope, speaker: str, content: str, said_at: datetime | None = None) -> str:
    """A UUID that is the same whenever one speaker makes the same statement in the same scope.

    "I went to yoga yesterday" on two days are two statements: the dates that they mean are part of
    it. Without `said_at` nobody knows them.
    """
    dates = relative_dates(content, said_at) if said_at else {}
    return _uuid(
        "fact", scope.key, owner_of(scope, speaker), normalised(content), *sorted(dates.values())
    )


def slot_id(scope: Scope, thing: str) -> str:
    """A UUID for the statements of a scope that may be about one thing."""
    return _uuid("slot", scope.key, thing)


def _uuid(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\n".join(f"{len(part)}:{part}" for part in parts)))
