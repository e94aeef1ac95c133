"""Passwords, keys and tokens, found by their form.

It is coarse on purpose: it finds what says that it is a secret ("my password is ..."), the key
formats of well-known services, and private keys. What is secret only to somebody who knows the
circumstances passes.
"""

import re
from collections.abc import Iterator

_NAMED = (
    r"pass\s?words?|pass\s?codes?|pin(?:[\s-]?(?:code|number|nummer))?|pwd?|pw|passwd"
    r"|(?:api|secret|private|access|encryption|recovery|licen[cs]e)[\s_-]?keys?|client[\s_-]?secret"
    r"|(?:access|auth|bearer|api|session|refresh)[\s_-]?tokens?|credentials"
    r"|(?:door|gate|alarm|entry|access|unlock|lock|garage|verification|backup|recovery|2fa|safe)"
    r"[\s-]codes?|(?:safe|lock|locker)\scombination|security\s(?:code|answer)|cvv2?|cvc2?|one[\s-]time\s(?:pass)?code|otp"
    r"|\w{0,20}passwort|passwoord|kennwort|geheimzahl|mot\sde\spasse|contrase[ñn]a|clave|senha|palavra-passe"
    r"|wachtwoord|pincode|has[łl]o|passord|l[öo]senord|adgangskode|salasana|пароль|パスワード|密码"
)
_IS = r"\bis\b|\bwas\b|\bare\b|\bist\b|\blautet\b|\best\b|\bes\b|\bé\b|\bè\b|\ber\b|\bär\b|\bto\b"
_PATTERNS = (
    # my password is hunter2; PIN: 1234; api_key=...; "password": "..."
    re.compile(
        rf"(?<![^\W_])(?:{_NAMED})(?![^\W_])[\"']?"
        rf"(?:\s+(?:for|of|to|on|at|fürs?|zu[mr]?|von|vom|pour|para|d[aeo]l?l?a?|du|des|til|av|voor|van|na)(?:\s+[^\s:=]+){{1,5}}?)?\s*"
        rf"(?:{_IS}|=|:|：|は|是|->)\s*[\"'`]?"
        r"(?P<secret>[^\s\"'`,;]{0,200}[^\s\"'`,;.?)])",
        re.IGNORECASE,
    ),
    # log in with password hunter2x
    re.compile(
        r"(?<![^\W_])(?:passwords?|passwort|pwd|pw|passcode)\s+[\"'`]?"
        r"(?P<secret>(?=\S{0,64}\d)(?=\S{0,64}[A-Za-z])[^\s\"'`,;]{5,64}[^\s\"'`,;.?:)])",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:(?:seed|recovery|pass|mnemonic|backup)\s?phrase|mnemonic)\b\s*(?:is|=|:)\s*[\"'`]?"
        r"(?P<secret>[^\n.\"'`]{4,300})",
        re.IGNORECASE,
    ),
    re.compile(
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
        re.DOTALL,
    ),
    re.compile(r"\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE),
    re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]{1,20}[-_])?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}"),
    re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bhf_[A-Za-z0-9]{30,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}|\bSG\.[\w.-]{40,}"),
    re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"(?<=://)[^\s/:@]*:(?P<secret>[^\s/@]+)(?=@)"),
)

#: What is said of a password, and is none.
_OF_IT = re.compile(
    r"(?:not|no|too|very|so|the|an?|my|your|his|her|our|in|on|at|for|from|with|never|always|still"
    r"|now|only|also|probably|really|wrong|incorrect|invalid|expired|weak|strong|short|long|safe"
    r"|secure|required|optional|missing|empty|lost|stored|saved|hashed|encrypted|changed|reset"
    r"|sent|shown|hidden|different|same|case-sensitive|unique|good|bad|important|handled|checked"
    r"|gone|what|that|this|it|falsch|abgelaufen|zu|nicht|vergessen|faux|trop|pas|incorrecta|muy"
    r"|no|demasiado|str|string|none|null|true|false|bytes|secretstr|[a-z]{3,}ed|[a-z_]\w*(?:\.\w+)*[\[(].*|[a-z_]+(?:\.[a-z_]+)+|\*+|<[^>]*>|\$\{?\w+\}?|\.+)",
    re.IGNORECASE,
)


def credentials(text: str) -> Iterator[tuple[int, int]]:
    """Where there are secrets: the secret itself, without the words that name it."""
    for pattern in _PATTERNS:
        named = "secret" in pattern.groupindex
        for found in pattern.finditer(text):
            start, end = found.span("secret" if named else 0)
            if not (named and _OF_IT.fullmatch(text, start, end)):
                yield start, end
