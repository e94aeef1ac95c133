"""Passwords, keys and tokens, found by the form of the value.

The key formats of well-known services, private keys and random strings are found wherever they
stand; another value only behind a name that says what it is ("my password is ..."), and only where
its form is that of a secret: a word of a sentence is none. What is secret only to somebody who
knows the circumstances passes.
"""

import re
from collections.abc import Callable, Iterator

from fourtier.runtime.privacy.secret_forms import (
    PHRASE,
    has_digit,
    is_key,
    is_password,
    is_random,
    is_value,
)

_PASSWORDS = (
    r"pass\s?words?|pass\s?codes?|pin(?:[\s-]?(?:code|number|nummer))?|pwd?|pw|passwd|credentials"
    r"|(?:(?:seed|recovery|pass|mnemonic|backup)\s?phrase|mnemonic)"
    r"|(?:door|gate|alarm|entry|access|unlock|lock|garage|verification|backup|recovery|2fa|safe)"
    r"[\s-]codes?|(?:safe|lock|locker)\scombination|security\s(?:code|answer)|cvv2?|cvc2?|one[\s-]time\s(?:pass)?code|otp"
    r"|\w{0,20}passwort|passwoord|kennwort|geheimzahl|mot\sde\spasse|contrase[ñn]a|clave|senha|palavra-passe"
    r"|wachtwoord|pincode|has[łl]o|passord|l[öo]senord|adgangskode|salasana|пароль|パスワード|密码"
)
_KEYS = (
    r"(?:api|secret|private|access|encryption|recovery|licen[cs]e)[\s_-]?keys?|client[\s_-]?secret"
    r"|(?:access|auth|bearer|api|session|refresh)[\s_-]?tokens?"
)
_IS = (
    r"(?:\bis\b|\bwas\b|\bare\b|\bist\b|\blautet\b|\best\b|\bes\b|\bé\b|\bè\b|\ber\b|\bär\b|\bto\b"
    r"|=|:|：|は|是|->)"
)
_OF = (
    r"(?:\s+(?:for|of|to|on|at|fürs?|zu[mr]?|von|vom|pour|para|d[aeo]l?l?a?|du|des|til|av|voor|van"
    r"|na)(?:\s+[^\s:=]+){1,5}?)?"
)
_VALUE = r"(?P<secret>[^\s\"'`,;]{0,200}[^\s\"'`,;.?)])"


def _named(names: str) -> re.Pattern[str]:
    """A value behind its name, as in `my password is hunter2`, `PIN: 1234`, `"api_key": "..."`."""
    return re.compile(
        rf"(?<![^\W_])(?:{names})(?![^\W_])[\"']?{_OF}\s*{_IS}\s*[\"'`]?{_VALUE}", re.IGNORECASE
    )


def _any(_: str) -> bool:
    return True


_NAMED_PASSWORD = _named(_PASSWORDS)
#: What is found, and what form it must have.
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_NAMED_PASSWORD, is_password),
    (_named(_KEYS), is_key),
    # log in with password hunter2x
    (
        re.compile(
            r"(?<![^\W_])(?:passwords?|passwort|pwd|pw|passcode)\s+[\"'`]?"
            r"(?P<secret>(?=\S{0,64}\d)(?=\S{0,64}[A-Za-z])[^\s\"'`,;]{5,64}[^\s\"'`,;.?:)])",
            re.IGNORECASE,
        ),
        is_password,
    ),
    # STRIPE_KEY=..., token: ..., "apiKey": "..."
    (
        re.compile(
            r"(?:(?<![A-Za-z])(?:key|token|secret|auth|Key|Token|Secret|Auth|KEY|TOKEN|SECRET|AUTH)"
            r"|(?<=[a-z])(?:Key|Token|Secret|Auth))[\"']?\s?[=:]\s?[\"'`]?"
            r"(?P<secret>[^\s\"'`,;:()<>\[\]{}]{8,400})"
        ),
        is_key,
    ),
    # DB_PASSWORD=swordfish, --password=swordfish
    (
        re.compile(r"(?:\b[A-Z_]{0,40}PASSWORD|--password)=[\"']?(?P<secret>[^\s\"'`,;]{4,200})"),
        is_value,
    ),
    (
        re.compile(
            r"\bcurl\b[^\n]{0,300}?\s(?:-[uU]\s?|--(?:proxy-)?user[ =])"
            r"(?:[\"'][^\s:\"']{1,64}:(?P<secret>[^\n\"']{1,200})|[^\s:\"']{1,64}:(?:\"(?P<double>[^\n\"]{1,200})|'(?P<single>[^\n']{1,200})|(?P<bare>[^\s\"']{1,200})))"
        ),
        is_value,
    ),
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?"
            r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
        _any,
    ),
    (
        re.compile(r"\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE),
        is_key,
    ),
    (re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]{1,20}[-_])?[A-Za-z0-9_-]{16,}"), has_digit),
    (
        re.compile(
            r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}"
            r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
            r"|\bhf_[A-Za-z0-9]{30,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}"
            r"|\bSG\.[\w.-]{40,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
        ),
        _any,
    ),
    (re.compile(r"(?<=://)[^\s/:@]*:(?P<secret>[^\s/@]+)(?=@)"), is_value),
    # A random string, wherever it stands; a part of a path, a URL or a fingerprint is none.
    (re.compile(r"(?<![\w/+=.:@$%-])[A-Za-z0-9_-]{20,120}={0,2}(?![\w/@.(=-])"), is_random),
)


def credentials(text: str) -> Iterator[tuple[int, int]]:
    """Where there are secrets: the secret itself, without the words that name it."""
    for pattern, has_form in _PATTERNS:
        for found in pattern.finditer(text):
            start, end = found.span(found.lastgroup or 0)
            if has_form(text[start:end]):
                yield start, end
            elif pattern is _NAMED_PASSWORD and (phrase := PHRASE.match(text, start)):
                yield phrase.span()
