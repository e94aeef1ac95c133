"""Which pairs of statements the model that detects contradictions is asked about at all.

It was trained on statements of what is so. Of small talk it says things that nobody would ("That's
great, Mel!" is over since "Sounds great, Mel!"), and each pair costs milliseconds. So a pair must
have something in common, and the newer one must say that something has changed, or say nearly the
same with another number or name. `bench/detection.py` shows what that leaves out of real dialogue.
"""

import re

from fourtier.engines.vectors.sparse import terms

#: What the newer statement of the two says when something has changed, ended or was wrong.
_CHANGED = re.compile(
    r"n't\b|\b(?:now|nowadays|these days|any ?more|any longer|no longer|instead|again|new|newer"
    r"|finally|after all|already|by now|latest|rather|used to|not|no|never|without"
    r"|as of|(?:from|since|starting) (?:now|next|today|tomorrow|last|this|the|[A-Z])"
    r"|correction|actually|sorry|oops|mis(?:typed|read|spoke|heard)|mixed up|wrong|meant|scratch"
    r"|forget|mov(?:e|es|ed|ing)|relocated|switch(?:es|ed)?|swap(?:s|ped)?|migrated"
    r"|chang(?:e|es|ed)|replac(?:e|es|ed)|rescheduled|postponed|delayed|extended|extension|pushed"
    r"|slipped|put (?:off|back)|brought forward|rais(?:e|es|ed)|lower(?:s|ed)|increased|decreased"
    r"|grown|bumped|cut|dropped|renamed|renewed|updated?|upgraded?|transferred|promoted"
    r"|(?:went|gone|goes|is|are|am|'m|'s|'re|turned|down|up) (?:up|down|off|over|out|to)"
    r"|t(?:ook|akes?|aken) over|be(?:came|comes?)|turned|started|began|retrained|reopened"
    r"|sold|sells|bought|g[ai]ve[ns]?(?: \w+){0,4} (?:up|away|to)|left|leaves|quit|quits|stopped"
    r"|ended|ends|over|closed|closes|cancell?ed|called off|fell through|withdr(?:ew|awn)"
    r"|split|divorced|separated|engaged|married|pregnant|broke|broken|died|passed|lost|found"
    r"|retired|fired|expired|done|finished|completed|fixed|resolved|repaired|mended|delivered"
    r"|arrived|paid|repaid|discharged|handed|picked up|back)\b",
    re.IGNORECASE,
)
#: A remark about what somebody else has said or shown, and not a statement about the speaker.
_REMARK = re.compile(
    r"^(?:(?:oh|wow|yeah|yes|yep|no|a+w+|haha|well|so|and|but|thanks|thank you|hey|hi|cool|nice"
    r"|great|amazing|awesome)\b[\s,.!-]*)*"
    r"(?:that|that's|those|these|this|sounds?|looks?|you|you're|you've|your|what|how|glad|good"
    r"|congrats|happy to|it's (?:so|such|really|very|great|amazing|important|inspiring|awesome"
    r"|nice|good|wonderful|special|always))\b",
    re.IGNORECASE,
)
#: A feeling passes by itself.
_FEELING = re.compile(
    r"\b(?:I|we)(?:'m|'re| am| are| feel| felt)?"
    r"(?: (?:so|really|super|very|truly|just|pretty|too|also|always))*"
    r" (?:excited|thankful|grateful|lucky|happy|glad|proud|swamped|sad|passionate|inspired"
    r"|stoked|pumped|blessed|honou?red|curious|impressed|amazed|thrilled|nervous|tired"
    r"|worried|love|hope|wish|feel)\b",
    re.IGNORECASE,
)
#: What was wanted of the assistant is over with its answer, and nothing that is so.
_REQUEST = re.compile(
    r"^(?:so |also |and |but |well,? |hi,? |hello,? |hey,? )*"
    r"(?:I'm|I am|I was|I've been) (?:also |just |still )?(?:looking for|thinking (?:of|about)"
    r"|trying to|wondering|considering|hoping) |"
    r"^(?:I'd|I would) (?:like|love|appreciate)\b"
    r"|^(?:I need|I want|I'd need) (?:some|you|to know|help)\b"
    r"|^(?:I )?can't wait\b",
    re.IGNORECASE,
)
_NUMBER_OR_NAME = re.compile(r"\d[\d.,:]*|(?<=\s)[A-Z][\w'-]+")
#: Words of a statement that says one thing; and of one that has room for little else.
_SHORT, _VERY_SHORT = 12, 8
#: A longer one has so much of the shorter one's words in common with it.
_SOME = 0.3
#: Short ones that say nearly the same have so much in common; where no number and no name differs,
#: more.
_COMMON, _NEARLY_ALL = 0.5, 0.66


def are_worth_comparing(one: str, other: str) -> bool:
    """Whether one of two statements may say that the other one holds no longer.

    The order does not count: what was over may be said again, with no word of a change.
    """
    if any(kind.search(each) for kind in (_REMARK, _FEELING, _REQUEST) for each in (one, other)):
        return False
    return _may_be_over(one, other) or _may_be_over(other, one)


def _may_be_over(older: str, newer: str) -> bool:
    one, other = set(terms(older)), set(terms(newer))
    if not one & other:
        return False
    share = len(one & other) / min(len(one), len(other))
    if _CHANGED.search(newer):
        return share >= _SOME or len(newer.split()) <= _SHORT
    return _is_nearly_the_same(older, newer, share)


def _is_nearly_the_same(older: str, newer: str, share: float) -> bool:
    longest = max(len(older.split()), len(newer.split()))
    if set(_NUMBER_OR_NAME.findall(newer)) - set(_NUMBER_OR_NAME.findall(older)):
        return longest <= _SHORT and share >= _COMMON
    return longest <= _VERY_SHORT and share >= _NEARLY_ALL
