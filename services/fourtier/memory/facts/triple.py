"""What a statement says of which thing, and when one may take another's place.

A *thing* is what a statement is about: somebody's budget for a trip, the capital of a country, or
what somebody does with something. A *triple* is a thing with what is said of it, and with what the
statement says about being so: that it has changed, is over, is wrong. A *slot* holds all triples
whose things have one owner and one topic: only those of one slot are ever compared.
"""

from dataclasses import dataclass

from fourtier.memory.facts.labels import Labels
from fourtier.memory.facts.things import Thing, plain, read_attribute
from fourtier.memory.facts.values import Value, comparable


@dataclass(frozen=True, slots=True)
class Triple:
    """What is said of what.

    Attributes:
        change: the statement says itself that something has changed.
        attribute: in its plain form, where the statement came with one.
        also: other sides of its thing that it tells: who is "a nurse at the clinic" works there.
        says: stems of the value; of a statement that is none of a value, of all it says.
        begun: what it says has begun at one time, as by a move.
        denied: it says that something is not so.
        ended: it says that something is not so any more.
        again: it says that something is so again.
        one: what it ends is one of several things.
        holds: it may end; what has happened stays true.
        does: it is a statement that stands beside others, see `predicates`.
        wrong: stems of the value that it says is or was wrong.
        when: only at these times.
        closes: keys of which it ends whatever was said.
        numbers: the numbers in a statement that stands beside others.
        labels: the numbers by which what it tells of is told from others of its kind.
        verb: the stem of the verb in a statement that stands beside others.
        feels: the stem of its verb where only that verb can end it.
        timed: a statement that stands beside others tells a time.
        finishes: stems of the verbs of states that are over after the event that it tells.
        gains: it tells that somebody has something from now on.
        corrected: it says itself that what was said before was a mistake.
        is_kind: it says of which kind somebody is: "a gold member".
        named: what it says a thing to be is one that has a name or is known, not how it is.
    """

    thing: Thing
    value: Value
    change: bool = False
    attribute: str = ""
    also: frozenset[str] = frozenset()
    says: frozenset[int] = frozenset()
    begun: bool = False
    denied: bool = False
    ended: bool = False
    again: bool = False
    one: bool = False
    holds: bool = True
    does: bool = False
    wrong: frozenset[int] = frozenset()
    when: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    labels: Labels = frozenset()
    verb: frozenset[int] = frozenset()
    feels: frozenset[int] = frozenset()
    timed: bool = False
    finishes: frozenset[int] = frozenset()
    gains: bool = False
    corrected: bool = False
    is_kind: bool = False
    named: bool = False

    @property
    def all_words(self) -> frozenset[int]:
        """Stems of the value and of the name of the thing."""
        return self.says | self.thing.words | self.thing.head

    @property
    def negative(self) -> bool:
        """Whether it says that something is not so, or not any more."""
        return self.denied or self.ended

    @property
    def bears_on_others(self) -> bool:
        """Whether it may close what has another name."""
        return self.change or self.negative or bool(self.wrong or self.finishes)


def explicit_triple(subject: str, attribute: str) -> Triple:
    """The triple of a statement that comes with its subject and attribute."""
    return Triple(read_attribute(subject, attribute), Value("any"), attribute=plain(attribute))


def may_replace(newer: Triple, older: Triple) -> bool:
    """Whether the older one is not true any more if both are about one thing."""
    said_to_change = newer.change or bool(newer.wrong)
    if not said_to_change and "place" in (newer.value.kind, older.value.kind):
        return False
    if older.negative or newer.negative or newer.does or older.does:
        return False
    if newer.says and newer.says == older.says:
        return False  # it says the same
    return (
        (newer.begun or newer.when == older.when)
        and comparable(newer.value, older.value)
        and older.value.whole
        and (said_to_change or (newer.thing.unique and older.thing.unique))
    )
