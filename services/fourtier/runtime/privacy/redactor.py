"""Takes personal data out of messages before they are written, and counts what it took out."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from annotated_types import MaxLen
from pydantic.fields import FieldInfo

from fourtier.runtime.errors import PersonalDataError
from fourtier.runtime.privacy.kinds import KINDS, Kind, placeholders
from fourtier.runtime.privacy.names import GIVEN_NAMES, cleaned_name
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redact
from fourtier.runtime.telemetry import CountedMetric
from fourtier.schema.message import Message

M = TypeVar("M", bound=Message)

REDACTED = CountedMetric(
    "fourtier.privacy.redacted", "personal data taken out of what was written, by its kind"
)

#: What records are found by: with another one in its place they would be somebody else's.
_NAMES = frozenset({"id", "user", "collection", "source", "document", "speaker", "embedding"})
#: Characters from which on the search is not done on the event loop.
_LONG = 4_000


@dataclass(frozen=True, slots=True)
class Cleaned(Generic[M]):
    """A message as it may be written.

    Attributes:
        counts: how often which kind was taken out.
    """

    message: M
    counts: Mapping[Kind, int] = field(default_factory=dict)


class Privacy:
    """A flow's policy, as a service applies it to what it writes.

    Args:
        service: whose name the metric has.
    """

    def __init__(self, policy: PrivacyPolicy = PrivacyPolicy(), service: str = "") -> None:
        self.policy = policy
        self._service = service

    async def clean(self, message: M) -> Cleaned[M]:
        """The message without the personal data that may not be written; ids stay as they are."""
        if _characters(message) > _LONG:
            return await asyncio.to_thread(self.clean_now, message)
        return self.clean_now(message)

    def clean_now(self, message: M) -> Cleaned[M]:
        """The same, at once: for short messages and for what runs in a thread already."""
        counts: Counter[Kind] = Counter()
        cleaned = _of_model(message, self.policy, counts)
        self._count(counts)
        return Cleaned(cleaned, dict(counts))

    async def counts(self, *texts: str) -> dict[str, int]:
        """What would be taken out of the texts, by kind; nothing is counted for the metric."""
        total: Counter[Kind] = Counter()
        for text in texts:
            total.update((await asyncio.to_thread(redact, text, self.policy)).counts)
        return {kind: total[kind] for kind in KINDS if total[kind]}

    def rejected(self, message: Message, counts: Mapping[Kind, int]) -> list[Kind]:
        """The kinds for which a message is rejected, of what it has or had before.

        Args:
            message: as it is after it was cleaned.
            counts: of what was taken out of it.
        """
        left_out = {span.kind for span in placeholders(message.model_dump_json())}
        return [
            kind
            for kind in KINDS
            if self.policy.action(kind) == "reject" and (kind in counts or kind in left_out)
        ]

    def require_allowed(self, message: Message, counts: Mapping[Kind, int]) -> None:
        """See that a message may be stored.

        Raises:
            PersonalDataError: it has what the flow's policy rejects.
        """
        if kinds := self.rejected(message, counts):
            raise PersonalDataError(
                f"not stored: it has personal data that this flow rejects ({', '.join(kinds)}); "
                f"leave it out, or set `privacy` in the flow file"
            )

    def _count(self, counts: Mapping[Kind, int]) -> None:
        for kind, number in counts.items():
            labels = {"fourtier.privacy.kind": kind, "messaging.consumer.group.name": self._service}
            REDACTED.add(number, labels)


def redact_json(value: Any, policy: PrivacyPolicy) -> Any:
    """JSON without personal data; ids stay as they are, by the names of their fields."""
    return _of_value(value, policy, Counter())


def _of_model(message: M, policy: PrivacyPolicy, counts: Counter[Kind]) -> M:
    changed: dict[str, Any] = {}
    for name, info in type(message).model_fields.items():
        before = getattr(message, name)
        if _is_name(name):
            after = _of_name(name, before, policy, counts)
        else:
            after = _of_value(before, policy, counts)
        if after is not before:
            changed[name] = _within_limit(after, before, info)
    return message.model_copy(update=changed) if changed else message


def _of_value(value: Any, policy: PrivacyPolicy, counts: Counter[Kind]) -> Any:
    """The value itself where there is nothing to take out of it."""
    after: Any = value
    if isinstance(value, str):
        redacted = redact(value, policy)
        counts.update(redacted.counts)
        after = redacted.text if redacted.counts else value
    elif isinstance(value, Message):
        after = _of_model(value, policy, counts)
    elif isinstance(value, dict):
        after = {
            key: _of_name(key, part, policy, counts)
            if _is_name(key)
            else _of_value(part, policy, counts)
            for key, part in cast("dict[str, Any]", value).items()
        }
    elif isinstance(value, (list, tuple)):
        parts = [_of_value(part, policy, counts) for part in cast("list[Any]", value)]
        after = tuple(parts) if isinstance(value, tuple) else parts
    return value if after is value or after == value else after


def _of_name(field_name: str, name: Any, policy: PrivacyPolicy, counts: Counter[Kind]) -> Any:
    """A name that people give, without secrets; another one as it is."""
    if field_name not in GIVEN_NAMES or not isinstance(name, str):
        return name
    cleaned = cleaned_name(name, policy)
    if cleaned == name:
        return name
    counts["credential"] += 1
    return cleaned


def _is_name(field_name: str) -> bool:
    return field_name in _NAMES or field_name.endswith("_id")


def _within_limit(after: Any, before: Any, info: FieldInfo) -> Any:
    """A placeholder may be longer than what it stands for; a field's limit holds all the same."""
    if not isinstance(after, str) or not isinstance(before, str):
        return after
    limits = [each.max_length for each in info.metadata if isinstance(each, MaxLen)]
    return after[: min(limits)] if limits else after


def _characters(value: Any) -> int:
    """About how many characters of text there are."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Message):
        return sum(_characters(getattr(value, name)) for name in type(value).model_fields)
    if isinstance(value, dict):
        return sum(_characters(part) for part in cast("dict[str, Any]", value).values())
    if isinstance(value, (list, tuple)):
        return sum(_characters(part) for part in cast("list[Any]", value))
    return 0
