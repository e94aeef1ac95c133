"""Passwords, keys and card numbers: what memory must not store, found by their form.

It is coarse on purpose: it finds what says that it is a secret ("my password is ..."),
the key formats of well-known services, private keys, and payment cards by their check digit. What
is secret only to somebody who knows the circumstances passes.
"""

import re

REDACTED = "[left out]"

_NAMED = (
    r"pass\s?words?|passwort|kennwort|pass\s?phrases?|pass\s?codes?|pin(?:\s(?:code|number))?|pwd"
    r"|(?:api|secret|private|access|encryption|recovery|licen[cs]e)[\s_-]?keys?|client[\s_-]?secret"
    r"|(?:access|auth|bearer|api|session|refresh)[\s_-]?tokens?|credentials"
    r"|security\s(?:code|answer)|cvv2?|cvc2?|ssn|social\ssecurity(?:\s(?:number|no\.?))?"
    r"|(?:seed|recovery)\sphrase|one[\s-]time\scode|otp"
)
_PATTERNS = (
    # my password is hunter2; PIN: 1234; api_key=...; "password": "..."
    re.compile(
        rf"\b(?:{_NAMED})\b[\"']?(?:\s+(?:for|of|to|on|at)(?:\s+[^\s:=]+){{1,5}}?)?\s*"
        r"(?:\bis\b|\bwas\b|\bare\b|=|:|->)\s*[\"'`]?"
        r"(?P<secret>[^\s\"'`,;]*[^\s\"'`,;.!?)])",
        re.IGNORECASE,
    ),
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}"),
    re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"),
)
_DIGITS = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d.,]?\d)")
_SHORTEST_CARD = 13


def has_credentials(text: str) -> bool:
    """Whether there is something that looks like a credential."""
    return redacted(text) != text


def redacted(text: str) -> str:
    """The text with everything that looks like a credential left out."""
    for pattern in _PATTERNS:
        text = pattern.sub(_without_secret, text)
    return _DIGITS.sub(lambda found: REDACTED if _is_card(found[0]) else found[0], text)


def _without_secret(found: re.Match[str]) -> str:
    secret = found.groupdict().get("secret")
    if secret is None:
        return REDACTED
    return found[0][: found.start("secret") - found.start()] + REDACTED


def _is_card(number: str) -> bool:
    """Whether the check digit is right (Luhn), as it is in payment cards."""
    digits = [int(digit) for digit in number if digit.isdigit()][::-1]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]  # noqa: PLR2004
    return len(digits) >= _SHORTEST_CARD and (sum(digits[::2]) + sum(doubled)) % 10 == 0
