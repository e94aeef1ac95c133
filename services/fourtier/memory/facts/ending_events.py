"""Events by which a state is over: who looked for a flat has found one, who wrote a paper sent it.

An event does not say that something is over. What it ends follows from its verb: to find ends to
look for, to submit ends to write. So does what somebody has afterwards: who bought a car has one.
"""

from fourtier.engines.vectors.sparse import terms

_RENOVATED = (
    "renovated|painted|repainted|cleaned|planted|sewed|sewn|knitted|translated|restored|organised"
    "|organized|refurbished|redecorated"
)
_RENOVATE = (
    "renovate renovation paint repaint clean plant sew knit translate restore organise organize"
    " refurbish redecorate"
)
_SUBMITTED = (
    "submitted|handed in|turned in|published|sent off|sent in|delivered|presented|filed|sent"
)
_WRITE = "write writing work working prepare preparing draft drafting revise revising edit editing"
_BOUGHT = "bought|got|adopted|ordered|purchased|inherited|acquired|picked up|hired|rented|leased"
_STUDY = "study studying prepare preparing learn learning train training revise revising"
#: Verbs of events, and those of the states that each of them ends.
_ENDS = (
    ("paid back|paid off|repaid|settled|settled up", "owe owed"),
    ("found|tracked down|located|found again", "look looking search hunt miss missing need"),
    (_BOUGHT, "look looking search hunt save saving want"),
    ("got|received|got back", "wait waiting expect expecting await awaiting"),
    (_SUBMITTED, _WRITE),
    ("passed|sat|took|failed", _STUDY),
    ("ran|climbed|crossed|rode|swam", "train training prepare preparing"),
    ("built|assembled|set up|installed", "build building assemble assembling"),
    (_RENOVATED, _RENOVATE),
    ("solved|resolved|sorted out|fixed|repaired", "struggle investigate debug fix repair"),
    ("got over|recovered from|shaken off|shook off|beat", "have suffer fight recover"),
)
_FINISHED_BY: dict[str, frozenset[int]] = {}
for _verbs, _states in _ENDS:
    for _verb in _verbs.split("|"):
        _FINISHED_BY[_verb] = _FINISHED_BY.get(_verb, frozenset()) | terms(_states)
#: Verbs by which one has something afterwards.
_GAINING = frozenset(
    [
        "found",
        "bought",
        "got",
        "adopted",
        "ordered",
        "purchased",
        "inherited",
        "acquired",
        "received",
    ]
)
#: The verbs themselves tell nothing of what the event is about.
EVENT_VERBS = frozenset(stem for verb in _FINISHED_BY for stem in terms(verb))
#: What a thing that is done needs no more.
DONE = terms(
    "open renovate renovation build building paint write writing work working prepare preparing"
    " repair fix clean plan"
    " planning draft drafting install sew knit translate restore organise edit"
)


def finished_by(verb: str, text: str) -> frozenset[int]:
    """The stems of the verbs of states that are over after an event.

    A particle stands behind the verb or at the end: "handed in my thesis", "paid Aisha back".
    """
    words = text.split()
    particles = {words[0], words[-1], "back" if "back" in words else ""} if words else set[str]()
    found = (
        _FINISHED_BY.get(each, frozenset())
        for each in (verb, *(f"{verb} {word}" for word in particles))
    )
    return frozenset(stem for stems in found for stem in stems)


def has_afterwards(verb: str) -> bool:
    """Whether one has what the verb is about after it: "bought", "adopted"."""
    return verb in _GAINING
