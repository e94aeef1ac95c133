"""Takes personal data out of texts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fourtier.runtime.privacy.clean_texts import CleanTexts
from fourtier.runtime.privacy.kinds import Kind, placeholder
from fourtier.runtime.privacy.policy import IN_LOGS, PrivacyPolicy

_CLEAN = CleanTexts()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text as it may be written.

    Attributes:
        counts: how often which kind was taken out.
    """

    text: str
    counts: Mapping[Kind, int]


def redact(text: str, policy: PrivacyPolicy) -> Redacted:
    """The text with a placeholder that names the kind for whatever the policy does not keep."""
    # The numbering plans belong to the extra `service`; a client alone imports this file too.
    from fourtier.runtime.privacy.finding import find  # noqa: PLC0415

    kinds = policy.sought
    if _CLEAN.has(text, kinds):
        return Redacted(text, {})
    spans = find(text, kinds)
    if not spans:
        _CLEAN.add(text, kinds)
        return Redacted(text, {})
    parts, end = [], 0
    for span in spans:
        parts += [text[end : span.start], placeholder(span.kind)]
        end = span.end
    return Redacted("".join([*parts, text[end:]]), Counter(span.kind for span in spans))


def redacted_log(text: str) -> str:
    """A text as operators may read it: a log line, or the reason of a dead letter."""
    return redact(text, IN_LOGS).text
