"""What stands before the words of weight in a sentence: interjections, names, "remember that"."""

import re

from fourtier.memory.statements.sentence_kinds import straight

_INTERJECTIONS = (
    r"hey|hi|hello|hiya|yo|oh|ah|aw+|wow|whoa|ok(?:ay)?|yes|yeah|yep|yup|no|nope|nah|sure|great"
    r"|cool|nice|awesome|thanks|thank you|thx|cheers|please|(?:and )?(?:btw|by the way)|fyi"
    r"|for your information|speaking of [^,.!?]{1,60}(?=,)"
    r"|just so you know|honestly|anyway|lol|(?:ha)+|h?mm+|um+|uh|right|alright|absolutely"
    r"|totally|definitely|exactly|of course|true|congrats|congratulations|gosh|omg|well|so|anyways"
    r"|good (?:morning|afternoon|evening)|also|oh my god|guess what|long time no (?:see|talk|chat)"
    r"|(?:(?:so|really) )?(?:good|great|nice|lovely) to"
    r" (?:see|meet|hear from|chat with|talk to) you"
    r"|(?:good|great|big|bad|sad|exciting) news|fun fact|thanks for asking|wish me luck|same here"
    r"|me too|you won't believe (?:it|this)|let me tell you about [^:]{1,60}(?=:)"
)
#: Taken off when a comma or the like follows; a name may stand between.
_INTERJECTION = re.compile(
    rf"^(?:{_INTERJECTIONS})"
    rf"(?:\s+(?:{_INTERJECTIONS}|actually|so much|a lot|there|again|all|everyone|guys"
    r"|(?-i:[A-Z][\w']*)))?"
    r"\s*(?:[,!.:;…]+|\s[-\u2013\u2014]+|[\u2013\u2014]+)\s*",
    re.IGNORECASE,
)
#: Taken off when a subject follows at once.
_CONNECTIVE = re.compile(
    r"^(?:so|and|but|also|well|oh|ok(?:ay)?|yeah|yes|hey|hi|hello|then|plus|cause|because)\s+"
    r"(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|the|he|she|they)\b)",
    re.IGNORECASE,
)
#: Before a dash only where no second one closes what it opens: "Rex - my dog - is ill".
_VOCATIVE = re.compile(
    r"^[A-Z][\w']+(?:\s[A-Z][\w']+)?\s*"
    r"(?:[,!]\s+(?=\w)|[-\u2013\u2014]+\s+(?=\w)(?!.*\s[-\u2013\u2014]+\s)|[,.!]*$)"
)
_REPORTED = re.compile(
    r"^(?:please[,\s]+)?(?:(?:can|could|will|would)\s+you\s+(?:please\s+)?|i(?:'d\s+like|\s+want"
    r"|\s+need)\s+you\s+to\s+|try\s+to\s+)?(?:always\s+|also\s+|just\s+)?"
    r"(?:remember|note|know|keep\s+in\s+mind|bear\s+in\s+mind|don't\s+forget|do\s+not\s+forget"
    r"|never\s+forget|be\s+aware|(?:make|take)\s+(?:a\s+)?note|remind\s+yourself)"
    r"(?:\s+(?:this|the\s+following|for\s+(?:me|later|next\s+time)))?"
    r"(?P<that>\s+that|\s+of\s+the\s+fact\s+that|\s+the\s+fact\s+that)?\s*[:,]?\s+"
    r"(?!to\b|when\b|me\b|how\b|what\b|where\b|if\b|you\b)(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    r"^(?:please[,\s]+)?(?:(?:can|could|will|would)\s+you\s+(?:please\s+)?|you\s+can\s+"
    r"|i\s+want\s+you\s+to\s+)?"
    r"(?:just\s+|now\s+)?(?:forget|disregard|ignore"
    r"|unlearn)\s+(?:about\s+)?(?:the\s+fact\s+)?that\s+"
    r"(?P<rest>(?:i|i'm|i've|my|we|we're|we've|our|the|[A-Z]\w*)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)


def without_leading_phrases(sentence: str) -> str:
    """The sentence from its first word of weight on: "Hey Ann, so I moved" becomes "I moved"."""
    rest = sentence
    while True:
        plain = straight(rest)
        found = _INTERJECTION.match(plain) or _CONNECTIVE.match(plain)
        if found is None and rest != sentence:
            found = _VOCATIVE.match(plain)  # behind an interjection it is not a list of things
        if found is None or not found.end():
            return rest
        rest = rest[found.end() :].lstrip()


def asked_to_remember(sentence: str) -> str | None:
    """X of "Remember that X"; None when the sentence does not ask to remember a statement."""
    found = _REPORTED.match(straight(sentence))
    if found is None:
        return None
    return sentence[found.start("rest") :].rstrip(" ?")


def asked_to_forget(sentence: str) -> str | None:
    """X of "Forget that X"; None when the sentence does not ask to forget a statement."""
    found = _FORGET.match(straight(sentence))
    return sentence[found.start("rest") :].rstrip(" ?") if found else None
