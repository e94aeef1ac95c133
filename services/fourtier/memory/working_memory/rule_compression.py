"""Condense steps by rule: one line for each, `tool(arguments) -> what came of it`.

The less room there is for a line, the shorter its texts; a step's thought goes first, then the
arguments, and the result last. Where there are more steps than lines can be had, the oldest are
counted in one line.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence

from fourtier.memory.working_memory.excerpt import Passage, fit
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.working_memory import WorkingMemoryItem

#: How many characters a result may have, tried from the richest.
_LENGTHS = (4_000, 2_800, 2_000, 1_400, 1_000, 700, 500, 350, 250, 180, 120, 80, 55, 35, 24, 16)
#: Arguments and the thought before an action get these shares of a result's length.
_ARGUMENTS = 0.6
_THOUGHT = 0.4
#: What would be shorter than this says nothing, and is left out.
_MIN_LENGTH = 40
#: No line takes fewer tokens: by that, too many steps are noticed before their lines are made.
_MIN_TOKENS = 5
_MAX_TOOLS_NAMED = 3
_MAX_NAME = 32


class _Step:
    """One step, its texts taken apart once for all lengths that are tried."""

    def __init__(self, number: int, items: Sequence[WorkingMemoryItem]) -> None:
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for item in items:
            texts[item.type].append(item.content)
        _, _, arguments = " ".join(texts["action"]).partition("(")
        self._number = number
        self._thought = Passage(" ".join(texts["thought"]))
        self._tool = _tool(items)
        self._arguments = Passage(arguments.rstrip().removesuffix(")"))
        self._result = Passage(" ".join([*texts["observation"], *texts["answer"]]))

    def line(self, length: int) -> str:
        """The step in one line, its result in at most `length` characters."""
        result = self._result.cut(length)
        if self._tool:
            thought = _beside(self._thought, int(length * _THOUGHT))
            arguments = _beside(self._arguments, int(length * _ARGUMENTS))
            call = self._tool if arguments is None else f"{self._tool}({arguments})"
            parts = [thought, call, "->", result or "(no result is known)"]
        else:
            parts = [self._thought.cut(length), result]
        return " ".join([f"{self._number}.", *filter(None, parts)])

    def about(self, length: int) -> int:
        """About how many tokens the result alone takes at a length."""
        return min(len(self._result.whole), length) // 4


def _beside(passage: Passage, length: int) -> str | None:
    """A text of less weight: whole if it is that short, left out where little would stay."""
    if length < min(_MIN_LENGTH, len(passage.whole)):
        return None
    return passage.cut(length)


def _tool(items: Sequence[WorkingMemoryItem]) -> str:
    """The tool that a step used, empty where it used none."""
    actions = (item.content.partition("(")[0].strip() for item in items if item.type == "action")
    return next(actions, "")[:_MAX_NAME]


def condense(items: Sequence[WorkingMemoryItem], tokens: int) -> str:
    """All steps of the items, oldest first, in at most `tokens` tokens."""
    by_number: defaultdict[int, list[WorkingMemoryItem]] = defaultdict(list)
    for item in items:
        by_number[item.step].append(item)
    numbers = sorted(by_number)
    max_lines = tokens // _MIN_TOKENS
    if len(numbers) <= max_lines:
        steps = [_Step(number, by_number[number]) for number in numbers]
        for length in _LENGTHS:
            if sum(step.about(length) for step in steps) > tokens:
                continue
            text = "\n".join(step.line(length) for step in steps)
            if count_tokens(text) <= tokens:
                return text
    latest = numbers[-max_lines:] if max_lines else []
    oldest = numbers[: len(numbers) - len(latest)]
    return _with_oldest_counted(oldest, latest, by_number, tokens)


def _with_oldest_counted(
    oldest: list[int],
    latest: list[int],
    by_number: dict[int, list[WorkingMemoryItem]],
    tokens: int,
) -> str:
    """The shortest lines of as many of the latest steps as fit, behind one line for the others."""
    lines = [_Step(number, by_number[number]).line(_LENGTHS[-1]) for number in latest]

    def text(counted: int) -> str:
        numbers = [*oldest, *latest[:counted]]
        return "\n".join([_count(numbers, by_number), *lines[counted:]] if numbers else lines)

    fewest = bisect_left(
        range(len(latest)), x=True, key=lambda counted: count_tokens(text(counted)) <= tokens
    )
    return fit(text(fewest), tokens)


def _count(numbers: Sequence[int], by_number: dict[int, list[WorkingMemoryItem]]) -> str:
    tools = Counter(_tool(by_number[number]) for number in numbers)
    del tools[""]
    named = ", ".join(f"{tool} {times}x" for tool, times in tools.most_common(_MAX_TOOLS_NAMED))
    others = len(tools) - _MAX_TOOLS_NAMED
    more = f" and {others} other tools" if others > 0 else ""
    used = f": {named}{more}" if named else ""
    return f"Steps {numbers[0]} to {numbers[-1]} are left out{used}."
