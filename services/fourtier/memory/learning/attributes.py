"""Whether an attribute that a model names has one value at a time."""

from itertools import takewhile

from fourtier.memory.learning.model_output import LearnedFact
from fourtier.memory.statements.sentence_kinds import words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Of which people have several, whatever a model says. What stands before the noun may still tell
#: one of them: "favourite book", "main language".
_SEVERAL = _words("""
    hobby interest pet dog cat friend colleague coworker neighbour neighbor child children kid son
    daughter brother sister sibling cousin aunt uncle nephew niece language skill allergy
    intolerance preference like dislike habit instrument sport activity medication illness condition
    diagnosis car bike book film movie series song game trip visit event appointment meeting project
    task goal plan wish dream idea purchase possession order recipe dish degree certificate tool
    account experience memory opinion belief rule tradition
""")
#: What follows one does not name the attribute: "budget for the trip" is a budget.
_PREPOSITIONS = _words("for of in at on to from with about during since until as by")
_WHICH = _words("favourite favorite preferred main primary current first native default best")


def has_one_value(fact: LearnedFact) -> bool:
    """Whether a newer value ends the older one: the model says so, and the noun allows it."""
    every = words(fact.attribute.replace("_", " "))
    name = list(takewhile(lambda word: word not in _PREPOSITIONS, every))
    if not fact.one_value or not fact.subject.strip() or not name:
        return False
    noun = name[-1]
    several = noun in _SEVERAL or _singular(noun) in _SEVERAL
    return not several or bool(_WHICH.intersection(name[:-1]))


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun.removesuffix("s")
