"""A model that plays the roles of a research, by what it is asked for."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.model import ModelRequest, Reply, Writes

#: Roles by a field of the schema that their answer must have.
_ROLES = {
    "info_needs": "plan",
    "notes": "integrate",
    "enough": "check",
    "new_requests": "follow_up",
}
PLAN = {"info_needs": [], "keyword_collection": [], "vector_queries": []}

Answer = Callable[[ModelRequest], Reply] | Reply


def role_of(request: ModelRequest) -> str:
    """The role that a completion is for."""
    assert request.schema is not None
    (role,) = {_ROLES[field] for field in request.schema["properties"] if field in _ROLES}
    return role


def handle_of(request: ModelRequest, words: str) -> str:
    """The handle of the entry that has these words."""
    found = re.search(rf"^- (E\d+) [^\n]*{re.escape(words)}", request.last, re.MULTILINE)
    assert found, f"{words} is not shown in: {request.last}"
    return found[1]


def plan(**lists: list[str]) -> Writes:
    """What is searched for."""
    return Writes(PLAN | lists)


def note(content: str, *sources: str) -> dict[str, Any]:
    """A note."""
    return {"content": content, "sources": list(sources)}


def notes(*written: dict[str, Any]) -> Writes:
    """All notes."""
    return Writes({"notes": list(written)})


ENOUGH, NOT_ENOUGH = Writes({"enough": True}), Writes({"enough": False})


def requests(*queries: str) -> Writes:
    """What is searched for next."""
    return Writes({"new_requests": list(queries)})


#: A model that has nothing to say.
SILENT: Mapping[str, Answer] = {
    "plan": plan(),
    "integrate": notes(),
    "check": NOT_ENOUGH,
    "follow_up": requests(),
}


class Played:
    """A script: an answer for each role, or one for each time that it is asked, the last again.

    Attributes:
        roles: that were asked, in order.
        asked: with what.
    """

    def __init__(self, **answers: Answer | list[Answer]) -> None:
        self.roles: list[str] = []
        self.asked: list[ModelRequest] = []
        self._answers = {**SILENT, **answers}

    def __call__(self, request: ModelRequest) -> Reply:
        role = role_of(request)
        answers = self._answers[role]
        number = self.roles.count(role)
        self.roles.append(role)
        self.asked.append(request)
        if isinstance(answers, list):
            answers = answers[min(number, len(answers) - 1)]
        return answers(request) if callable(answers) else answers

    def shown(self, role: str) -> list[str]:
        """What a role was shown beside its instructions, each time."""
        return [
            each.last for name, each in zip(self.roles, self.asked, strict=True) if name == role
        ]
