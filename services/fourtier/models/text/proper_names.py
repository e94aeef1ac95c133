"""The names of people, places, organisations and products that a text mentions.

`names_in` takes any capitalised word for a name, which is right where a name too many does no harm.
Here it does: "Dinner is at eight" mentions nobody. Letters tell it inside of a sentence; of the
first word of a sentence, lists of words, its ending and the word behind it do.
"""

import re
import unicodedata
from collections.abc import Iterator

from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.ordinary_words import (
    AFTER_NO_NAME,
    CAPITALISED,
    ENDING_LIKE_WORDS,
    ENDINGS,
    NATIONALITIES,
    NOUNS,
    OPENERS,
    TIMES,
    TITLES,
)

_WORD = r"(?:[^\W\d_a-z]|[a-z]{1,2}(?=[A-Z]\w))[\w'\u2019&-]*"
#: Between two parts of a name; a full stop only behind an initial or a title.
_GAP = (
    r"(?:(?<=\b[A-Z])\.[^\S\n]?"
    r"|(?:(?:(?<=\b(?:St|Dr|Mr|Ms|Mt|Jr))|(?<=\b(?:Mrs|Rev))|(?<=\bProf))\.)?[^\S\n])"
)
_RUN = re.compile(
    rf"\b{_WORD}(?:{_GAP}(?:(?:of|for|de|la|van|von|der|&)\s(?:the\s)?)?{_WORD}|[^\S\n]\d{{1,3}}\b)*"
)
#: What may stand between the end of a sentence, or the beginning of quoted speech, and a word.
_OPENING = " \t'\u2018([*\u2022\u2013\u2014_-"
_ENDS = '.!?:;\n\u2026"\u201c\u201d\u201e\u00ab'
_SUFFIX = re.compile(r"['\u2019](?:s|ll|d|ve|re|m)?$", re.IGNORECASE)
_NEGATED = re.compile(r"n['\u2019]t$", re.IGNORECASE)
_NEXT = re.compile(r"[^\S\n]+([\w'\u2019]+)")
_CAPITAL = re.compile(r"[a-z]{0,2}[^\W\d_a-zß-öø-ÿ]")
_STRETCHED = re.compile(r"(.)\1\1")
_SPACE = re.compile(r"\s+")
_LOWER = re.compile(r"\b[a-z][\w'-]*")
_INNER = frozenset({"&", "of", "for", "de", "la", "van", "von", "der", "the"})
#: Characters of a name, and of a word that is looked at for its ending.
_SHORTEST, _LONGEST, _LONG_WORD = 3, 100, 6
#: Words of a name; a longer run is a heading.
_MAX_WORDS = 6


def proper_names(text: str) -> tuple[str, ...]:
    """The names in a text, without a genitive's ending, in their order; each once by its key.

    Weekdays, months, feasts, nationalities, languages and titles are not names.
    """
    if not any(character.islower() for character in text):
        return ()
    small = frozenset(match[0] for match in _LOWER.finditer(text))
    found: dict[str, str] = {}
    for match in _RUN.finditer(text):
        for name in _names_of_run(text, match, small):
            found.setdefault(name_key(name), name)
    return tuple(found.values())


def name_key(name: str) -> str:
    """By what a name is known, however it is written: without case, spaces and genitive."""
    plain = unicodedata.normalize("NFKC", name).replace("\u2019", "'")
    return _SUFFIX.sub("", _SPACE.sub(" ", plain).strip()).casefold()


def _names_of_run(text: str, run: re.Match[str], small: frozenset[str]) -> Iterator[str]:
    following = _NEXT.match(text, run.end())
    behind = following[1].casefold() if following else ""
    first = _begins_sentence(text, run.start())
    parts = list(_parts(run[0]))
    for index, (part, after) in enumerate(parts):
        words, last = _without_titles(part), index == len(parts) - 1
        if first and index == 0:
            words = _without_opening(words, after or (behind if last else ""), small)
            if last and len(words) == 1 and _is_exclamation(text, run):
                words = []
        name = " ".join(words)
        if words and len(words) <= _MAX_WORDS and not _is_no_name(words):
            yield name


def _is_exclamation(text: str, run: re.Match[str]) -> bool:
    """Whether a word is a whole sentence among others: "Perfect!"."""
    alone = text[run.end() : run.end() + 1] in {".", "!", "?"}
    return alone and len(text) > run.end() - run.start() + 1


def _parts(run: str) -> Iterator[tuple[list[str], str]]:
    """The names that a run of words may have, and what stands behind each within the run."""
    part: list[str] = []
    for word in run.split():
        bare = _bare(word)
        if bare.casefold() in TIMES or bare == "I" or _NEGATED.search(word):
            yield part, bare.casefold()
            part = []
        elif bare != word.rstrip("."):
            yield [*part, bare], "'s"
            part = []
        else:
            part.append(word)
    yield part, ""


def _bare(word: str) -> str:
    return _SUFFIX.sub("", word).rstrip("-&.") or word


def _begins_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(_OPENING)
    return not before or before[-1] in _ENDS


def _without_titles(words: list[str]) -> list[str]:
    while words and (_bare(words[0]).casefold() in TITLES | _INNER or not terms(words[0])):
        words = words[1:]
    while words and words[-1].casefold() in _INNER:
        words = words[:-1]
    return words


def _without_opening(words: list[str], behind: str, small: frozenset[str]) -> list[str]:
    """The words at the head of a sentence without those that only begin it."""
    while words and _bare(words[0]).casefold() in OPENERS:
        words = _without_titles(words[1:])
    if len(words) == 1 and behind != "'s" and _may_be_ordinary(words[0], behind, small):
        return []
    if len(words) == 1 and words[0].casefold() in NOUNS | small:
        return []
    return words


def _may_be_ordinary(word: str, behind: str, small: frozenset[str]) -> bool:
    key = word.casefold()
    if key in small or key in NOUNS or behind in AFTER_NO_NAME or _STRETCHED.search(key):
        return True
    if "-" in key and word.rpartition("-")[2].islower():
        return True
    long = len(key) >= _LONG_WORD
    return long and key.endswith(ENDINGS) and key not in ENDING_LIKE_WORDS


def _is_no_name(words: list[str]) -> bool:
    """Whether none of the words names anything in particular."""
    keys = {word.casefold().rstrip(".") for word in words}
    name = " ".join(words)
    return (
        not _SHORTEST <= len(name) <= _LONGEST
        or keys <= NATIONALITIES | CAPITALISED | TITLES
        or not _CAPITAL.match(name)
    )
