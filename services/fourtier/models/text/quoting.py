"""Text from outside as data in a prompt: escaped, and between fences that nothing inside can close.

    <data from="facts">
    - ann (2026-05-01): My budget is 5,000 dollars
    </data>

Inside of a fence every line begins with `- `, which begins an item, or with `| `, which continues
it, and no tag is left: neither the fence's own, nor a token of a model's chat template. A text that
forges a role (`System:`), a fence or another item therefore stays one quoted item. The escapes are
those of HTML, which models read; what is invisible to a person is removed. All of it depends on the
text alone, so that equal memories make equal prompts, and a provider's cache of prefixes holds.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

#: What stands in a fence.
Kind = Literal[
    "facts",
    "wishes",
    "archive",
    "memos",
    "episodes",
    "conversation",
    "history",
    "state",
    "steps",
    "tool",
    "notes",
    "searches",
]

_JOINERS = "\u200c\u200d"
#: Letters and signs that show nothing, besides those whose category says so.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_LINE_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
#: Persian, Indic scripts and emoji need joiners; between anything else they hide a word.
_JOINED = r"[\u0600-\u1fff\ua800-\ufe0f\U0001f300-\U0010ffff]"
_STRAY_JOINER = re.compile(rf"(?<!{_JOINED})[{_JOINERS}]|[{_JOINERS}](?!{_JOINED})")
_MARKS = re.compile(r"([\u0300-\u036f]{2})[\u0300-\u036f]+")

#: Letters of other alphabets that look like those of the tags; what NFKC folds is not repeated.
_LOOKALIKES = dict(
    zip(
        "абсԁеһіјӏмոорԛѕтυνԝхуαιοτκρ〈⟨‹❮˂ᐸ⧼【〔⟦❲|ǀ∣│❘",  # noqa: RUF001 - on purpose
        "abcdehijlmnopqstuvwxyaiotkp<<<<<<<[[[[|||||",
        strict=True,
    )
)
#: Names of tags in chat templates, and of our own.
_ROLES = r"data|system|user|assistant|tool|developer|human|model|bot|instructions?|prompt|memory"
_TOKENS = r"s|sys|bos|eos|pad|unk|inst|start_of_\w+|end_of_\w+|begin_of_\w+|eo[tm]_id|im_\w+"
_BRACKETED = (
    r"inst|sys|system|system_prompt|user|assistant|tool_calls|tool_results|tool_content"
    r"|available_tools|prefix|suffix|middle|img|end"
)
_BRACKET = rf"(?P<bracket>\[)(?=\s*/?\s*(?:{_BRACKETED})\s*\])"
_ENTITY = r"(?P<entity>&)(?=(?:lt|gt|amp|#x?[0-9a-f]{1,6});)"
#: In a fence: anything that may be read as a tag. "a < b", "<= 3" and "<3" stay as they are.
_IN_FENCE = re.compile(
    rf"(?P<tag><)(?=[a-z]|\s*[|/!?\\<]|\s*(?:{_ROLES}|{_TOKENS})\b)|{_BRACKET}|{_ENTITY}",
    re.IGNORECASE,
)
#: Outside of one: our fence and the tokens of templates, so that a question about HTML stays whole.
_OUTSIDE = re.compile(
    rf"(?P<tag><)(?=\s*\||\s*<\s*/?\s*sys|\s*/?\s*(?:data|{_TOKENS})\s*[>|\s])|{_BRACKET}",
    re.IGNORECASE,
)
_ESCAPES = {"tag": "&lt;", "bracket": "&#91;", "entity": "&amp;"}

_NOT_IN_NAMES = re.compile(r"[^\w .@+'-]+")
_ROLE_NAME = re.compile(rf"(?:{_ROLES}|you|admin\w*|operator|function)\W*", re.IGNORECASE)
_MAX_LABEL = 60


class _Visible(dict[int, str]):
    """What stands for each character, found once: itself, a space, or nothing."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = shown = _shown(character)
        return shown


class _Folded(dict[int, str]):
    """The one character that each looks like."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = unicodedata.normalize("NFKD", character)[:1] or character
        self[code] = folded = _LOOKALIKES.get(
            plain.lower(), plain if plain.isascii() else character
        )
        return folded


def _shown(character: str) -> str:
    if character in "\n\t" or character in _JOINERS:
        return character
    if character in _BLANK or 0xE0100 <= ord(character) <= 0xE01EF:  # noqa: PLR2004 - selectors
        return ""
    match unicodedata.category(character):
        case "Cc" | "Cf":
            return ""
        case "Cs" | "Co" | "Cn":
            return "\ufffd"
        case "Zs":
            return " "
        case _:
            return character


_visible, _folded = _Visible(), _Folded()


def cleaned(text: str) -> str:
    """The text without what nobody sees: controls, marks of direction, zero-width characters."""
    if text.isascii() and text.isprintable():
        return text
    lines = _LINE_BREAK.sub("\n", text).translate(_visible)
    return _MARKS.sub(r"\1", _STRAY_JOINER.sub("", unicodedata.normalize("NFC", lines)))


def in_one_line(text: str) -> str:
    """The text, cleaned, on one line."""
    return " ".join(cleaned(text).split())


def label(name: str) -> str:
    """A name for the head of an item: short, without punctuation that would end it there.

    A name that is that of a role is marked as a name.
    """
    short = in_one_line(_NOT_IN_NAMES.sub(" ", cleaned(name)))[:_MAX_LABEL].strip()
    return f"somebody named {short}" if _ROLE_NAME.fullmatch(short.translate(_folded)) else short


def looks_like(text: str) -> str:
    """What a person reads: cleaned, in small letters, look-alikes and accents made plain ASCII."""
    return cleaned(text).translate(_folded).casefold()


def quoted(kind: Kind, items: Iterable[str]) -> str:
    """The items between fences; empty without items."""
    lines = "\n".join(map(_item, items))
    return f'<data from="{kind}">\n{lines}\n</data>' if lines else ""


def plain(text: str) -> str:
    """A text to stand outside of fences, without a fence or a token of a chat template in it."""
    return _escaped(cleaned(text), _OUTSIDE)


def _item(text: str) -> str:
    lines = _escaped(cleaned(text), _IN_FENCE).strip().split("\n")
    return "\n| ".join([f"- {lines[0]}", *lines[1:]])


def _escaped(text: str, pattern: re.Pattern[str]) -> str:
    """The text with what matches replaced; found in what the text looks like."""
    folded = text if text.isascii() else text.translate(_folded)
    parts: list[str] = []
    end = 0
    for match in pattern.finditer(folded):
        parts += text[end : match.start()], _ESCAPES[match.lastgroup or ""]
        end = match.end()
    return "".join([*parts, text[end:]])
