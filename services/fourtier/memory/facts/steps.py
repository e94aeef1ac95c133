"""Steps of what is asked for, made or sent, and colours: one at a time, each by a later one."""

import re
from collections.abc import Iterator
from dataclasses import replace

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.conditions import NOUN
from fourtier.memory.facts.ending_events import DONE
from fourtier.memory.facts.things import read_thing
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import Value
from fourtier.memory.facts.words import ADVERB, takes_any_words

_STEPS = (
    "pending|planned|a draft|drafted|in draft|in review|under review|in progress|being reviewed"
    "|on order|ordered|waiting for approval|awaiting approval|under construction|on its way"
    "|submitted"
    "|tentative|unconfirmed"
)
#: Each is over when the next one begins.
_LATER_STEPS = (
    "approved|rejected|accepted|declined|denied|refused|granted|final|finished|done|complete"
    "|completed"
    "|merged|deployed|released|shipped|delivered|published|signed|sold|confirmed|certified"
    "|in production|through|in force"
)
_DONE = frozenset(["finished", "done", "complete", "completed", "final", "published", "submitted"])
_COLOURS = (
    "red|green|blue|yellow|orange|purple|violet|pink|brown|black|white|grey|gray|beige"
    "|turquoise|amber"
    r"|(?:dark|light|pale|bright|navy|sky|mint|olive)\s(?:red|green|blue|yellow|grey|gray|brown"
    r"|pink)"
)
_HAS_BECOME = r"(?:(?:has|have)\s+(?:just\s+|now\s+)?been|was|were|got|am|is|are)"
_STEP = re.compile(
    rf"^(?P<thing>.{{2,80}}?)\s+{_HAS_BECOME}\s+{ADVERB}(?P<step>{_STEPS}|{_LATER_STEPS})"
    r"(?:\s+(?:on|last|this|by|since|until|in|at|with|for)\s.*|\s+(?:yesterday|today|now))?$"
)
_COLOUR = re.compile(
    rf"^(?P<thing>.{{2,80}}?)\s+(?:is|are)\s+{ADVERB}(?:painted\s+)?(?P<colour>{_COLOURS})$"
)
_PAINTED = re.compile(
    r"^(?:I|[Ww]e|They|[A-Z]\w+)\s+(?:(?:have|has|just)\s+)*(?:painted|repainted|dyed|sprayed)\s+"
    rf"(?P<thing>{NOUN})\s+(?P<colour>{_COLOURS})(?:\s+(?:on|last|this|yesterday|today|now)\b.*)?$"
)


def read_steps(text: str) -> Iterator[Triple]:
    """The step that a thing has reached, or its colour."""
    if (step := _STEP.match(text)) is not None:
        begun = re.fullmatch(_LATER_STEPS, step["step"]) is not None
        done = (
            DONE
            if step["step"] in _DONE
            else terms("open available")
            if begun
            else frozenset[int]()
        )
        for triple in _of("step", step["thing"], step["step"], change=begun):
            yield replace(triple, finishes=done)
    if (painted := _PAINTED.match(text)) is not None:
        yield from _of("colour", painted["thing"], painted["colour"], change=True)
    elif (colour := _COLOUR.match(text)) is not None:
        yield from _of("colour", colour["thing"], colour["colour"], change=False)


def _of(name: str, phrase: str, said: str, *, change: bool) -> Iterator[Triple]:
    thing = read_thing(phrase)
    if thing is not None and not takes_any_words(thing.head, thing.words):
        yield Triple(thing.side(name), Value("words", terms(name)), change, says=terms(said))
