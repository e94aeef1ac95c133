"""Secrets in the names that people give: of conversations, documents and speakers.

A name is what records are found by, so the same secret leaves the same mark in every service, when
something is stored and when it is asked for.
"""

from hashlib import blake2b
from typing import TypeVar

from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.schema.message import Message
from fourtier.schema.visible import MAX_NAME

M = TypeVar("M", bound=Message)

#: Fields with names that people give.
GIVEN_NAMES = frozenset({"conversation_id", "source", "document", "speaker"})
#: Characters of a suffix of a file, the dot included.
_SUFFIX = 6


def with_clean_names(message: M, policy: PrivacyPolicy) -> M:
    """The message with no secret in the names that it is about; itself where there is none."""
    changed = {
        field: cleaned
        for field in GIVEN_NAMES & type(message).model_fields.keys()
        if isinstance(name := getattr(message, field), str)
        and (cleaned := cleaned_name(name, policy)) != name
    }
    return message.model_copy(update=changed) if changed else message


def cleaned_name(name: str, policy: PrivacyPolicy) -> str:
    """A name with a mark in the place of each secret."""
    if not name or policy.action("credential") == "keep":
        return name
    parts = _without_secrets(name).split("/")
    return "/".join(map(_cleaned_file, parts))[:MAX_NAME]


def _cleaned_file(name: str) -> str:
    """The name of a file or of a folder; its suffix stays."""
    stem, dot, suffix = name.rpartition(".")
    if stem and len(dot + suffix) <= _SUFFIX:
        return f"{_without_secrets(stem)}{dot}{suffix}"
    return _without_secrets(name)


def _without_secrets(name: str) -> str:
    # What it finds numbers by belongs to the extra `service`; a client imports this file too.
    from fourtier.runtime.privacy.finding import find  # noqa: PLC0415

    parts: list[str] = []
    end = 0
    for span in find(name, ["credential"]):
        parts += [name[end : span.start], _mark(name[span.start : span.end])]
        end = span.end
    return "".join([*parts, name[end:]])


def _mark(secret: str) -> str:
    digest = blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"left-out-credential-{digest}"
