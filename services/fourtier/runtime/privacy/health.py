"""What tells of somebody's illness or medication: a word of the lexicon, said of a person.

A word alone is not health data: "a book on depression" tells of nobody. So the words before it must
tie it to somebody: "I have", "my mother's", "was diagnosed with". Allergies, intolerances, diets
and pregnancies are none here, and neither are colds and broken legs: people tell them so that they
are remembered, and go by what they have told.
"""

import re
from collections.abc import Iterator

from fourtier.runtime.privacy.health_words import (
    CONDITIONS,
    MEDICATION,
    OF_PERSONS,
    PERSONS,
    TREATMENTS,
)

_WINDOW, _REACH = 70, 45
_SAID = (
    r"(?!(?:is|was|are|were|be|works?|worked|stud\w+|reads?|wrote|sign|signo"
    r"|segno|horoscope|says?|es|è|est|ist|on|about|over|against|über|sobre|sur)\b)"
)
_FILLER = (
    r"(?:\s+(?!but\b|and\b|not\b|no\b|kein\w*|pas\b|nicht\b|ohne\b|without\b)[\w'’-]+){0,3}?\s+"
)

#: Whose it is.
_OWN = (
    rf"\b(?:my|his|her|our|their|your|(?:{PERSONS})(?:['’]s|s['’])|(?-i:[A-Z]\w+)['’]s|mein\w*"
    r"|ihre?\w*|seine?\w*|unser\w*|mon|ma|mes|sa|ses|notre|mi|mis|su|sus|mio|mia|miei|mie|suo"
    r"|sua|meu|minha|seu|mijn|zijn|onze|moj\w*|mój|jego|jej|min|mitt|mina|hans|hennes"
    r"|мой|моя|моей|моего)"
)
#: What somebody may do with an illness, a medicine, a treatment; who it is, stands before.
_HAS = (
    r"\b(?:have|has|had|having|got|['’]ve|['’]s|suffer\w*(?:\sfrom)?|diagnosed(?:\s(?:as|with))?"
    r"|liv(?:e|es|ed|ing)\swith|deal\w*\swith|struggl\w+\swith|cop(?:e|es|ing)\swith|battl\w+"
    r"|fight\w*|fought|tested\spositive\sfor|positive\sfor|recover\w+\sfrom|died\s(?:of|from)"
    r"|history\sof|am|['’]m|is|are|was|were|been|develop(?:s|ed)|contracted|caught|surviv\w+"
    r"|hospitali[sz]ed\s(?:for|with)|treated\sfor|treatment\sfor|therapy\sfor|pills\sfor"
    r"|medication\sfor|operated\sfor|surgery\sfor|inherited|relapsed?\sinto|off\ssick\swith)"
)
_TAKES = (
    r"\b(?:takes?|taking|took|on|inject\w*|prescribed|needs?|started|stopped|back\son|using|uses?)"
)
_TREATED = (
    r"\b(?:having|undergo\w*|underwent|had|has|have|started|starts|finished|start|began|begin\w*|need\w*"
    r"|get(?:s|ting)?|in|do(?:es|ing)?|going\s(?:to|through)|goes\s(?:to|through)|go\sto|see(?:s|ing)?)"
)
#: Words that begin a sentence and are not names.
_NO_NAMES = (
    "The This That These Those It Its In On At A An Our My His Her Their Your For If No Not Is Are"
    " Was Were Do Does Did What Why How When Where Which Can Could Will Would Should Some Many Most"
    " All Every Each About There Here And But Or So As By Of To From With New Today Please"
).replace(" ", "|")
#: Who has it: else "the economy is in depression" would tell of somebody.
_WHO = re.compile(
    rf"\b(?:I|me|he|she|him|her|we|us|they|who|diagnosis|{PERSONS}"
    rf"|(?-i:(?!(?:{_NO_NAMES})\b)[A-ZÅÄÖØÆÉ][a-zåäöøæéèß]+))\b",
    re.IGNORECASE,
)
#: In other languages, who and what at once: their short words are other words in English.
_ABROAD = (
    r"\b(?:ich\s(?:hab\w?|hatte|bin|leide(?:\s(?:an|unter))?)"
    rf"|(?:er|sie|wir|(?:{PERSONS}))\s(?:hat|hatte|haben|ist|sind|leide[tn]\s(?:an|unter))"
    r"|leide[tn]?\s(?:\w+\s)?(?:an|unter)|erkrankt\san|diagnose|habe|(?:nehme|nimmt|spritz\w+|bekomm\w+|mache|macht)"
    rf"|j['’]ai|je\s(?:suis|souffre|prends|fais)|(?:il|elle|on|(?:{PERSONS}))\s(?:a|avait|est|souffre|prend|fait)"
    r"|souffr\w+\sd(?:e\b|['’])|atteinte?s?\sd(?:e\b|['’])|diagnosti\w+|prends"
    rf"|tengo|padezco|sufro|soy|tomo|hago|tiene|tenía|padece|sufre|toma|(?:{PERSONS})\s(?:es|tiene)"
    rf"|(?:io\s)?(?:ho|soffro\sdi|sono|prendo|faccio)|(?:lui|lei|(?:{PERSONS}))\s(?:ha|soffre|è|prende|fa)"
    r"|affett[oa]\sda|soffre\sdi"
    rf"|tenho|sofro|tem|sou|(?:ele|ela|(?:{PERSONS}))\s(?:tem|é|sofre|toma|faz)"
    rf"|(?:ik|hij|zij|ze|(?:{PERSONS}))\s(?:heb|heeft|had|lijdt?|ben|slikt?|gebruikt?)|slik"
    rf"|mam|miał\w*|choruj[eę]|cierpi\w*|bior[eę]|bierze|(?:{PERSONS})\s(?:ma|choruje)|chor\w+\sna"
    rf"|(?:jag|jeg|han|hun|hon|(?:{PERSONS}))\s(?:har|hadde|lider|är|er|tar)|minulla\son|sairastan"
    r"|у\sменя|болею|болен|больна)"
)
_OF_WHAT = r"(?:\s(?:an|unter|na|av|af|de|di|от))?"
_TIE = {
    "condition": rf"(?:{_HAS}){_FILLER}\Z",
    "medication": rf"(?:{_TAKES}|{_HAS}){_FILLER}\Z",
    "treatment": rf"(?:{_TREATED}){_FILLER}\Z",
}
_TIED = {kind: re.compile(tie, re.IGNORECASE) for kind, tie in _TIE.items()}
#: An article may be joined to the word: "l'épilepsie".
_TIED_BY_ITSELF = re.compile(
    rf"(?:{_OWN}(?:\s+{_SAID}[\w'’-]+){{0,3}}?\s+"
    rf"|{_ABROAD}{_OF_WHAT}(?:{_FILLER}|{_FILLER}[ld]['’]|\s[ld]['’]|['’]))\Z",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"(?<![\w-])(?:(?P<condition>{CONDITIONS})|(?P<medication>{MEDICATION})"
    rf"|(?P<treatment>{TREATMENTS})|(?P<person>{OF_PERSONS}))(?![\w]|-(?!positiv))",
    re.IGNORECASE,
)
#: Behind the word, it is part of the name of something else.
_THING = re.compile(
    r"\s+(?:research\w*|charit\w+|awareness|screening|fund\w*|foundation|conference|ward|clinic"
    r"|study|studies|specialist|memes?|jokes?|movie|book|novel|papers?|prevention|vaccine|tests?\b"
    r"|patients?|app\b|dataset|data\b|model|startup|drugs?\b|market|era\b|prices?|pump\s(?:firm|maker))",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"(?:\b(?:not|no|never|kein\w*|nicht|pas|without|ohne|sin|nie)|n['’]t)\s+(?:[\w'’]+\s+){0,2}\Z"
    r"|\b(?:no\sone|nobody|none\sof|niemand|keiner|personne|nadie|nessuno|ninguém|nikt)\b",
    re.IGNORECASE,
)


def health(text: str) -> Iterator[tuple[int, int]]:
    """Where there are illnesses and medication of somebody."""
    for found in _WORDS.finditer(text):
        if _THING.match(text, found.end()):
            continue
        before = _clause(text, found.start())
        kind = found.lastgroup or "person"
        who = _WHO.search(before) is not None
        tied = (
            who and (kind == "person" or _TIED[kind].search(before) is not None)
        ) or _TIED_BY_ITSELF.search(_last_words(before)) is not None
        if tied and not _NONE.search(before):
            yield found.span()


def _last_words(text: str) -> str:
    """The words that a tie and what is between may take; that one costs the most to look for."""
    return text if len(text) <= _REACH else text[-_REACH:].partition(" ")[2]


def _clause(text: str, start: int) -> str:
    """What stands before in the same sentence."""
    before = text[max(0, start - _WINDOW) : start]
    return re.split(r"[.!?\n;]", before)[-1]
