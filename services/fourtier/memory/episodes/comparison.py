"""What a success did otherwise than a failure of the same goal: a lesson by rule, in one sentence.

It is made when episodes are read, of what is stored then, and kept nowhere: with the other episode
it is gone.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from pydantic import JsonValue

from fourtier.memory.episodes.resemblance import SAME_GOAL, Resemblance
from fourtier.models.text.tokens import count_tokens
from fourtier.models.text.tool_calls import ToolUse
from fourtier.schema.episodes import Episode

#: Tokens of a comparison.
MAX_TOKENS = 60
#: A longer value is a text, and no setting that one run had and the other had not.
_MAX_VALUE = 40
#: Values of one argument, and tools, that are named.
_MAX_NAMED = 3
_OPPOSITE = {"success": "failure", "failure": "success"}


def compared(episode: Episode, others: Sequence[Episode], resemblance: Resemblance) -> Episode:
    """The episode with what was done otherwise in the most alike of those that ended otherwise.

    It stays as it is where there is none of the same goal, or where their steps tell no difference.
    """
    rivals = [each for each in others if each.result == _OPPOSITE.get(episode.result)]
    alike = [(resemblance.between(episode, each), each) for each in rivals]
    near = [(likeness, each) for likeness, each in alike if likeness >= SAME_GOAL]
    if not near:
        return episode
    _, other = max(near, key=lambda pair: (pair[0], pair[1].timestamp, pair[1].id))
    if not (difference := _difference(episode, other)):
        return episode
    return episode.model_copy(update={"comparison": difference, "compared_with": other.id})


def _difference(episode: Episode, other: Episode) -> str:
    own, others = _uses(episode), _uses(other)
    if episode.result == "success":
        subject = f"unlike the failure of {other.timestamp:%Y-%m-%d}, this"
        better, worse = own, others
    else:
        subject = f"the success of {other.timestamp:%Y-%m-%d}"
        better, worse = others, own
    sentence = ""
    for difference in differences(better, worse):
        longer = f"{sentence}; {difference}" if sentence else f"{subject} {difference}"
        if count_tokens(longer) > MAX_TOKENS:
            continue
        sentence = longer
    return sentence


def _uses(episode: Episode) -> list[ToolUse]:
    return [use for step in episode.steps if (use := ToolUse.read(step)) is not None]


def differences(better: Sequence[ToolUse], worse: Sequence[ToolUse]) -> Iterator[str]:
    """What the one has that the other lacks, the most telling first.

    That is tools, then values of arguments, then the order; nothing of two that tell no tools.
    """
    if not better or not worse:
        return
    tools, others = _names(better), _names(worse)
    if more := [tool for tool in tools if tool not in others]:
        yield f"used {_listed(more)}"
    if less := [tool for tool in others if tool not in tools]:
        yield f"did not use {_listed(less)}"
    # What is decided last changes something; what comes before is mostly looking up.
    for tool in reversed([tool for tool in tools if tool in others]):
        yield from _settings(tool, better, worse)
    yield from _order(
        [tool for tool in tools if tool in others], [tool for tool in others if tool in tools]
    )


def _names(uses: Sequence[ToolUse]) -> list[str]:
    """Each tool once, in the order in which they were first used."""
    return list(dict.fromkeys(use.tool for use in uses))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join([*names[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])])


def _settings(tool: str, better: Sequence[ToolUse], worse: Sequence[ToolUse]) -> Iterator[str]:
    """Arguments that the tool had other values of."""
    good, bad = (_values(tool, uses) for uses in (better, worse))
    changes: list[str] = []
    for name, values in good.items():
        others = bad.get(name, [])
        new = [value for value in values if value not in others]
        old = [value for value in others if value not in values]
        if new:
            instead = f" and not {_listed(old)}" if old else ""
            changes.append(f"{name} {_listed(new)}{instead}")
    if changes:
        yield f"called {tool} with {', '.join(changes)}"


def _values(tool: str, uses: Sequence[ToolUse]) -> dict[str, list[str]]:
    """The values that each argument of a tool had, in their order, those inside of others too."""
    found: dict[str, list[str]] = {}
    leaves = (_leaves("", use.arguments) for use in uses if use.tool == tool)
    for name, value in chain.from_iterable(leaves):
        if len(value) <= _MAX_VALUE and value not in found.setdefault(name, []):
            found[name].append(value)
    return found


def _leaves(name: str, value: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None:
        yield name, str(value)


def _order(tools: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """The first two tools that come in another order."""
    place = {tool: number for number, tool in enumerate(others)}
    for first, second in pairwise(tools):
        if place[first] > place[second]:
            yield f"used {first} before {second}"
            return
