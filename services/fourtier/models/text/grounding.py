"""Whether what a model wrote says nothing but what was said, as far as code can tell.

Numbers and names are where an invented fact does harm, and where one can be seen: each of a text's
must be in what it rests on. The first word of a sentence is a name here, too, unless it is a stop
word: a true text may be lost by that, and an invented name is not let through.
"""

import re

from fourtier.engines.vectors.sparse import terms
from fourtier.models.text.names import names_in

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_WORD = re.compile(r"[^\W\d_]+")
#: As digits; "one" is not a number more often than it is one.
_SPELLED_OUT = "two three four five six seven eight nine ten eleven twelve"
_SPELLED = {word: str(number) for number, word in enumerate(_SPELLED_OUT.split(), start=2)}


def not_said(text: str, said: str) -> tuple[str, ...]:
    """The numbers and names of a text that are not in what was said."""
    stems = terms(said)
    names = names_in(_NUMBER.sub(" ", text))  # "Oslo for 1200" would be one name
    return (
        *sorted(_numbers(text) - _numbers(said)),
        *(name.text for name in names if not name.terms <= stems),
    )


def _numbers(text: str) -> set[str]:
    """The numbers in a text, without what only makes them easier to read."""
    digits = {_THOUSANDS.sub("", number).lstrip("0") for number in _NUMBER.findall(text)}
    words = {_SPELLED.get(word.casefold(), "") for word in _WORD.findall(text)}
    return (digits | words) - {""}
