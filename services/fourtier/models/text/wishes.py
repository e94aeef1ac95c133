"""Telling a wish for how the assistant writes: language, tone, length, format, form of address.

The only thing remembered that the assistant is to heed, and so the test is the strictest: a wish is
one short sentence of words that are listed here and of nothing else, but for the name in "call me
Ann". What is not listed cannot be ordered by it.
"""

import re

from fourtier.models.text.quoting import cleaned, looks_like

_MAX_CHARACTERS, _MIN_WORDS = 120, 3


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: A wish has at least one of these: without them it says nothing of how to write.
_STYLE = _words("""
    english german french spanish italian portuguese dutch danish norwegian swedish finnish polish
    russian ukrainian czech greek turkish arabic hebrew hindi chinese japanese korean vietnamese
    nynorsk bokmal british american deutsch englisch franzosisch spanisch italienisch norwegisch
    francais anglais allemand espagnol espanol ingles frances italiano inglese norsk engelsk tysk
    short shorter brief briefly long longer detailed concise concisely simple simply plain
    kurz kurze knapp ausfuhrlich court courts courte courtes bref breves cortas cortos brevi korte
    formal formally informal informally friendly polite politely kind kindly honest honestly gentle
    patient casual professional humorous serious warm neutral
    emoji emojis emoticons jokes exclamation bullet bullets table tables list lists numbered heading
    headings markdown prose paragraph paragraphs summary summaries sentence sentences step steps
    metric imperial celsius fahrenheit kilometres kilometers miles euros dollars pounds units
    spelling lowercase uppercase rhyme rhymes examples
""")
#: What may stand beside them.
_BESIDE = _words("""
    i i'd i'm would like prefer want wish love appreciate rather need please you your to that if it
    when and or but not no never always only just with without in as a an the of for by at on
    be is are use using write reply answer respond speak talk explain give keep make put give
    answers replies responses reply answer words language tone style way length dates date prices
    numbers day month year time me my mine all every each more less few fewer one two three four
    five ten twenty fifty hundred under over than about very first then so should could can may
    rather have had get instead user wants wishes prefers likes from now
    ich bevorzuge mochte hatte gern gerne antworten antwort bitte auf immer nur in auch mir
    je prefere prefererais voudrais des reponses reponse en s'il te vous plait toujours
    prefiero quiero respuestas respuesta por favor siempre preferisco risposte per favore sempre
    jeg foretrekker vil helst ha svar pa liker gjerne
""")
_NAMED = re.compile(
    r"(?:please |just |you can |you may |and |but |my name is [\w'-]+,? (?:and |but )?)*"
    r"(?:call|address) me (?:as )?"
    r"(?P<name>(?:dr\.? |mr\.? |ms\.? |mrs\.? )?[^\W\d_]+(?:['-][^\W\d_]+)?)"
    r"(?: please)?\W*",
)
#: Names that would be an order, or an authority.
_NO_NAMES = _words("""
    admin administrator root system developer operator owner master god boss sudo assistant user
    tool tools function transfer before after when whenever if for first superuser supervisor
    controller creator commander king queen lord almighty trusted verified ignore obey
""")
_MAX_NAME = 35
_WORD = re.compile(r"[\w']+")


def is_wish(text: str) -> bool:
    """Whether a statement is a wish for how the assistant writes, and nothing else."""
    if len(text) > _MAX_CHARACTERS or "\n" in cleaned(text).strip():
        return False
    read = looks_like(text).replace("\u2019", "'")
    if named := _NAMED.fullmatch(read):
        parts = re.split(r"[\W_]+", named["name"])
        return _NO_NAMES.isdisjoint(parts) and len(named["name"]) <= _MAX_NAME
    said = [word for word in _WORD.findall(read) if not word.isdecimal()]
    known = _STYLE.intersection(said) and (_STYLE | _BESIDE).issuperset(said)
    return bool(known) and len(said) >= _MIN_WORDS
