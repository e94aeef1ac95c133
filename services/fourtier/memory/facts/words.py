"""The words by which plain English statements are read.

Closed classes of the language for the most part; the open ones are nouns that name one plain value
("colour", "password") and nouns of which somebody may have several ("sister", "flight").
"""

import re

from fourtier.engines.vectors.sparse import terms


# In one text each, because lists of quoted words are hard to read and to extend.
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[int]:
    return frozenset(stem for word in text.split() for stem in terms(word))


#: Denied, wished, planned, supposed, long past, or true of several things: nothing that can take
#: another statement. Small letters only: "Never" in a title is a name.
UNSURE = re.compile(
    r"\?|n't\b|\b(?:not|never|neither|nor|no|none|cannot|any ?more|used to|until|unless|if|whether"
    r"|would|could|might|may|should|shall|will|maybe|perhaps|probably|possibly|potentially|likely"
    r"|supposed|supposedly|hopefully|hope|hopes|hoping|wish|wishes|think|thinks|thought|guess"
    r"|believe|believes|wonder|imagine|pretend|want|wants|wanted|plan to|plans to|planned|planning"
    r"|going to|gonna|wanna|about to|considering|almost|nearly|ago|once|back then|back in"
    r"|sometimes|often|usually|mostly|occasionally|temporarily|for now|also|too|as well|another"
    r"|(?:when|while) (?:I|i|he|she|we|they) (?:was|were)|as a (?:kid|child|teenager|student)"
    r"|in my (?:teens|twenties|thirties|youth))\b"
)
#: Says that the statement replaces another one.
CHANGE = re.compile(
    r"(?:^|[\s,])(?:now|right now|currently|actually|instead|nowadays|these days|at the moment"
    r"|at present|from now on|as of (?:now|today))(?=$|[\s,])",
    re.IGNORECASE,
)
#: Stands between subject and verb and changes nothing.
ADVERB = r"(?:(?:just|recently|finally|still|officially|already|since)\s+)*"
#: What may stand in front of a statement without being part of it.
OPENING = re.compile(
    r"^(?:(?:oh|well|so|and|but|hey|hi|yes|yeah|yep|ok|okay|sure|btw|by the way|fyi|note|anyway"
    r"|just so you know|for the record|please|remember that|remember|(?P<change>update|correction)"
    r")(?:\s*[,:;!-]\s*|\s+))+",
    re.IGNORECASE,
)

#: A phrase that has one of these in it is not a plain name of a thing.
NOT_IN_A_NAME = _words(
    "i you he she it we they me him her us them this these those there what why how is are was"
    " were be been am has have had do does did because so but than then"
)
#: Begins a clause that tells which one is meant: "the company that ...".
RELATIVE = _words("that which who whom whose where when")
#: Ends the part of a phrase that its last noun heads.
PREPOSITIONS = _words("of for to in on at with from about by per during between towards under over")
#: Small words inside names.
CONNECTORS = _words(
    "of the and de du des von van der den la le les di da del al el es ibn bin & for in on at to"
    " from a an"
    " y e o 's"
)
#: Begin with a capital at the head of a sentence, and name nobody.
NOBODY = _words(
    "a an the this that these those there it he she they you what who which where when why how"
    " everyone everybody someone somebody anyone anybody people both all most some many few each"
    " every one two his her their your its its' my our if as at in on for with from by after"
    " before since because although though while"
)
#: Ends the value and begins something that the statement says besides.
MORE = re.compile(
    r"\s*(?:[;(]|,(?!\s*(?:[A-Z0-9]))|\s-\s|\s(?:and|but|because|so|which|who|where|when|while"
    r"|although|though|including|plus|with|without|as|after|before|or|since|until|that)\b)"
)

#: Nouns of which one may have several: "my sister" fits more than one, "my flight number" too.
SEVERAL = _stems(
    "brother sister sibling son daughter child children kid baby twin cousin uncle aunt nephew"
    " niece grandson granddaughter grandchild friend buddy mate roommate flatmate housemate"
    " neighbour neighbor colleague coworker teammate classmate student pupil teacher client"
    " customer patient"
    " pet dog puppy cat kitten horse bird fish rabbit plant tree car bike"
    " book movie film song album show series game toy photo picture painting gift present idea"
    " recipe dish meal post message note story poem joke question answer problem reason"
    " trip flight train bus meeting appointment class lesson course exam test interview call match"
    " race run walk hike workout session party concert festival event visit date lunch dinner"
    " breakfast order package ticket booking reservation bill invoice purchase task project"
    " thing item part point piece example memory moment day night weekend hobby interest skill"
    " dream wish plan goal account card device computer room bag shirt dress shoe"
)
#: Unless a word before it says which: "my favourite book".
WHICH = _stems("favourite favorite main primary current home work emergency middle first last full")
#: Nouns whose value may be any plain words: "the official language is Russian".
PLAIN = _stems(
    "name surname nickname username handle email mail address password passcode passphrase code pin"
    " colour color language type kind sort genre brand model make nationality religion occupation"
    " profession major subject gender status title destination currency headquarters pronoun"
    " motto password species breed material flavour flavor style format size diet"
)
_FAVOURITE = _stems("favourite favorite preferred")
#: Nouns whose value is a time.
DATED = _stems(
    "date day time deadline birthday birthdate anniversary start end beginning hour hours schedule"
    " checkout checkin departure arrival bedtime expiry due"
)
#: Says little beside another word of the name: "the Hawaii trip budget".
LIGHT = _stems(
    "trip travel vacation holiday journey visit stay tour project event thing overall total"
)
#: Tells one of several that have the rest of their name in common.
CONTRAST = _stems(
    "old former previous last next other second third original initial first extra minimum maximum"
    " min max daily weekly monthly yearly annual"
)
#: Says that the thing is not the one it was; no part of its name.
FRESH = _words("new updated revised latest actual")
#: Says that the thing is the one that is meant anyway.
CURRENT = _words("current present")


def takes_any_words(head: frozenset[int], rest: frozenset[int]) -> bool:
    """Whether the value may be any plain words."""
    return bool(head & PLAIN or rest & _FAVOURITE)
