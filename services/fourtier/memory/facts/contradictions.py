"""Whether a statement says of an older one that it is wrong, over, or not so.

That needs no thing with one value: the words in which the two agree tell what is meant. The newer
one must not say more than the older one; what it leaves out, the older one may have.
"""

from collections.abc import Set as AbstractSet

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.facts.ending_events import EVENT_VERBS
from fourtier.memory.facts.labels import have_other_labels
from fourtier.memory.facts.things import slot_name
from fourtier.memory.facts.triple import Triple
from fourtier.memory.facts.values import comparable
from fourtier.memory.facts.words import LIGHT, STATES

#: Who rented a suit has none.
_FOR_A_TIME = terms("rented hired booked reserved borrowed lent ordered leased planned arranged")
_VAGUE = terms("attend go do have take use get")


def is_known_person(new: Triple, old: Triple, people: AbstractSet[frozenset[int]]) -> bool:
    """Whether both are said of one person: "John" is not one of two, and not another John.

    `people` are all ways in which the slot tells who somebody of the name is.
    """
    if new.thing.whose == old.thing.whose and (new.thing.whose or len(people) < 2):  # noqa: PLR2004
        return True
    return not new.thing.whose and len(people) == 1 and (new.change or new.negative)


def is_same_side(new: Triple, old: Triple) -> bool:
    """Whether both tell the same side of a thing: its price, or when it leaves.

    Where the newer one says that it has changed, "the flight is at nine" tells when it leaves too.
    """
    one, other = new.thing.sort.split("|"), old.thing.sort.split("|")
    if one == other:
        return True
    if new.change and new.thing.sort in old.also:
        return not new.says <= old.says
    counted = new.value.kind == old.value.kind == "number" and bool(new.value.unit & old.value.unit)
    alike = new.value.kind == old.value.kind == "time" or counted
    return new.change and alike and one[0] == other[0] and 1 in (len(one), len(other))


def may_conflict(new: Triple, old: Triple) -> bool:
    """Whether both give one thing a value, and not the same; which is right, nobody has said."""
    if new.does or old.does or new.negative or old.negative or new.when != old.when:
        return False
    names = (
        new.thing.words - LIGHT == old.thing.words - LIGHT and new.thing.whose == old.thing.whose
    )
    return (
        names
        and is_same_side(new, old)
        and comparable(new.value, old.value)
        and new.says != old.says
    )


def corrects(new: Triple, old: Triple) -> bool:
    """Whether the newer one says that the value of the older one was wrong, or is left behind."""
    if old.negative or (new.does and old.does and not _is_same_deed(new, old)):
        return False
    said = old.all_words | terms(" ".join(old.numbers))
    return new.wrong <= said and new.thing.words <= said


def _is_same_deed(new: Triple, old: Triple) -> bool:
    """Whether both tell that somebody does, or did, the same with other things, or so many of them.

    Who bought a Volvo may have bought a Saab too, unless that is said to be a mistake; and who paid
    45 euros for the shoes may have paid 40 for a hat.
    """
    if not new.verb & old.says:
        return False
    counted = bool(new.numbers and old.numbers)
    return new.holds or (new.corrected and (new.says <= old.says or not counted))


def ends(new: Triple, old: Triple) -> bool:
    """Whether one says that something is so, and the newer one that it is not, or the reverse."""
    if new.negative == old.negative or have_other_labels(new.labels, old.labels):
        return False
    if old.denied and new.gains:
        return slot_name(new.thing) == slot_name(old.thing) and old.says <= new.says
    if new.closes and old.thing.sort in new.closes:
        return new.says <= old.all_words or not old.says
    return _is_same_matter(new, old) and _turns(new, old)


def _is_same_matter(new: Triple, old: Triple) -> bool:
    """Whether they have one name, or are told by their words alone: case 302 is not case 301."""
    if new.thing.sort != old.thing.sort:
        return new.does or old.does
    return new.thing.words - LIGHT <= old.all_words


def _turns(new: Triple, old: Triple) -> bool:
    if new.ended:
        left = _left(new)
        return old.holds and old.feels <= new.says and bool(left) and left <= old.all_words
    if new.denied:
        return old.says == new.says and old.does == new.does and new.when == old.when
    return _is_so_after_all(new, old)


def _is_so_after_all(new: Triple, old: Triple) -> bool:
    if not new.holds or not old.says or new.verb & _FOR_A_TIME:
        return False
    if old.ended:
        return new.again and old.says <= new.all_words
    if new.thing.key.endswith("|is") and not new.again:
        return old.says == new.says and new.when == old.when
    if new.change and not old.when and old.says <= new.all_words:
        return True  # what was never so is so now, be it at weekends only
    return old.says <= new.says and new.when == old.when and old.does == new.does


def finishes(new: Triple, old: Triple) -> bool:
    """Whether the newer one tells of an event after which the older one is over."""
    ended = new.finishes & (
        old.verb or (old.says if old.thing.key.endswith("|is") else frozenset())
    )
    if not ended or not (old.does and old.holds) or new.negative or old.negative:
        return False
    if have_other_labels(new.labels, old.labels):
        return False
    if not old.verb and new.thing.words != old.thing.words:
        return False
    if slot_name(new.thing) != slot_name(old.thing):
        return False
    about, event = old.says - new.finishes, new.all_words - EVENT_VERBS
    return about - LIGHT <= new.all_words or event - LIGHT <= old.all_words


def is_described_otherwise(new: Triple, old: Triple) -> bool:
    """Whether a thing is said to be another one than before: "the meeting point is the station"."""
    if not new.change or new.negative or old.negative or new.thing.words != old.thing.words:
        return False
    if new.begun and old.thing.key == f"{new.thing.key}|is":
        return old.value.kind == "words" and new.value.kind in {"words", "name"}
    if new.thing.key != old.thing.key or not new.thing.key.endswith("|is") or new.says == old.says:
        return False
    return (new.named and old.named) or new.corrected


def is_another_kind(new: Triple, old: Triple) -> bool:
    """Whether somebody is another kind of the same now: a platinum member, not a gold one."""
    if not (new.change and new.does and old.does) or new.negative or old.negative:
        return False
    kinds = new.says - new.thing.head, old.says - old.thing.head
    same = new.thing.key == old.thing.key and new.when == old.when
    return same and new.is_kind and old.is_kind and all(kinds) and not kinds[0] & kinds[1]


def has_other_number(new: Triple, old: Triple) -> bool:
    """Whether the newer one gives what the older one told of a thing another number, or time."""
    if not (old.holds and new.change) or old.negative or new.negative:
        return False
    if not old.does:
        counted = new.does and new.thing.head == old.thing.head and new.says <= old.thing.head
        return counted and bool(new.numbers and old.numbers) and new.numbers != old.numbers
    if new.does:
        same = new.thing.sort == old.thing.sort and new.says <= old.says and new.when == old.when
        return same and bool(new.numbers and old.numbers) and new.numbers != old.numbers
    if not new.thing.words | new.thing.head <= old.says | old.thing.head:
        return False
    if new.value.kind == "time":
        return old.timed and new.value.whole
    return new.begun and bool(old.numbers) and bool(new.value.unit & old.all_words)


def _left(new: Triple) -> frozenset[int]:
    """What the older one must have too; by whichever verb one goes somewhere."""
    return (new.says or new.thing.words) - _VAGUE - LIGHT - STATES
