"""Whether a message is a plain yes to a numbered list, by rule and never by a model.

Everything else is no: a question, a yes with an exception, a word that is not known here. Whoever
means yes in other words is asked again; whoever does not mean it has lost nothing. Numbers alone
are a yes in every language.
"""

import re
import unicodedata

#: More is not a plain yes.
_MAX_WORDS = 12


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALL = _words("all both alle tous todo todos tutti")
_YES = _ALL | _words(
    "yes yeah yep yup aye sure ok okay agreed agree confirm confirmed correct absolutely definitely"
    " certainly exactly ahead delete erase remove"
    " ja jawohl jep jo oui ouais si sí sim claro da да tak ano áno igen evet kyllä joo jah"
    " はい 是 好 好的 네 예 نعم כן"
)
#: "Forget it" is among them, since it may mean never mind.
_BESIDES = _words(
    "please thanks thank you i am i'm im do so go just only that that's thats this these those them"
    " it is are of the and number numbers forget for good want permanently forever right now"
    " bitte danke und nur nummer s'il vous plaît et por favor y per e"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
#: "1-3" and "1 to 3" could be read in two ways; a question agrees to nothing.
_UNCLEAR = re.compile(
    r"\d\s*(?:[-\u2010-\u2015…~]|\.\.|to\b|bis\b)\s*\d|[?؟]|\d\.\d", re.IGNORECASE
)


def agreed_numbers(message: str, maximum: int) -> tuple[int, ...]:
    """The numbers from 1 to `maximum` that a message agrees to; none if it is not a plain yes.

    A yes without numbers agrees to all.
    """
    text = unicodedata.normalize("NFKC", message).casefold()
    words = _WORD.findall(text.replace("\u2019", "'"))
    if _UNCLEAR.search(text) or not 0 < len(words) <= _MAX_WORDS:
        return ()
    numbers = {int(word) for word in words if word.isdecimal()}
    others = {word for word in words if not word.isdecimal()}
    if not others <= _YES | _BESIDES or not numbers <= set(range(1, maximum + 1)):
        return ()
    if numbers:
        return () if _ALL & others else tuple(sorted(numbers))
    return tuple(range(1, maximum + 1)) if others & _YES else ()
