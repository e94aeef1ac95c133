"""How an episode reads in a prompt: within some 150 tokens, for three of them stand in it.

A short one stands there whole. Of a longer one these do: how it ended, the goal, what was done
otherwise where it ended otherwise, the lesson, the tools in their order with the arguments that say
something, the outcome; and its id, by which the tool `recall_episodes` gives all of it. Orders to
the assistant are left out everywhere.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import filterfalse, groupby

from fourtier.agents.react_mem.quotes import head
from fourtier.models.text.instructions import is_order_in_step, without_orders
from fourtier.models.text.quoting import in_one_line
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.models.text.tool_calls import ToolUse
from fourtier.schema.episodes import Episode

#: Tokens of an episode, and of its parts; the steps may have what the others leave.
MAX_TOKENS = 150
_GOAL, _OUTCOME, _LESSONS, _LEAST = 30, 20, 60, 20
#: Characters of a value, for a longer one is a text, and of a step that is told in words.
_MAX_VALUE, _MAX_WORDS = 24, 80
#: How many arguments of each step are shown: most first, and fewer until all steps fit.
_ARGUMENTS = (3, 2, 1, 0)
_CUT = " …"
#: Stands for a goal that was nothing but an order about the assistant's rules or tools.
_LEFT_OUT = "an instruction that is left out"


def episode_item(episode: Episode) -> str:
    """An earlier task on one line, short."""
    whole = episode_in_full(episode)
    return whole if count_tokens(whole) <= MAX_TOKENS else _in_short(episode)


def episode_in_full(episode: Episode) -> str:
    """An earlier task on one line, whole."""
    return _line(
        episode,
        steps="; ".join(_steps(episode)),
        outcome=_harmless(episode.outcome),
        lesson=_harmless(episode.lessons),
        otherwise=_harmless(episode.comparison),
    )


def _in_short(episode: Episode) -> str:
    otherwise = _cut(_harmless(episode.comparison), _LESSONS)
    left = max(_LEAST, _LESSONS - count_tokens(otherwise))
    parts = {
        "goal": _cut(_goal(episode), _GOAL),
        "outcome": _cut(_harmless(episode.outcome), _OUTCOME),
        "lesson": _cut(_harmless(episode.lessons), left),
        "otherwise": otherwise,
        "whole": f'recall_episodes({{"id": "{in_one_line(episode.id)}"}})',
    }
    left = MAX_TOKENS - count_tokens(_line(episode, **parts)) - count_tokens(" Steps: .")
    return _line(episode, **parts, steps=_fitting(_steps(episode), left))


def _line(
    episode: Episode,
    *,
    goal: str = "",
    steps: str = "",
    outcome: str = "",
    lesson: str = "",
    otherwise: str = "",
    whole: str = "",
) -> str:
    about = head(episode.source, episode.timestamp, episode.result)
    parts = [
        f"{about}: {_sentence(goal or _goal(episode))}",
        f"Steps: {steps}." if steps else "",
        f"Outcome: {_sentence(outcome)}" if outcome else "",
        f"Lesson: {lesson}" if lesson else "",
        f"Compared: {otherwise}" if otherwise else "",
        f"Whole: {whole}" if whole else "",
    ]
    return " ".join(part for part in parts if part)


def _goal(episode: Episode) -> str:
    return _harmless(episode.goal) or _LEFT_OUT


def _steps(episode: Episode) -> list[str]:
    return [in_one_line(step) for step in filterfalse(_is_order, episode.steps)]


def _fitting(steps: Sequence[str], tokens: int) -> str:
    """The steps with as many of their arguments as fit, and without results."""
    shown = ""
    for number in _ARGUMENTS:
        shown = "; ".join(_without_repetitions(_brief(step, number) for step in steps))
        if count_tokens(shown) <= tokens:
            return shown
    return _cut(shown, tokens)


def _without_repetitions(steps: Iterator[str]) -> Iterator[str]:
    for step, run in groupby(steps):
        times = len(list(run))
        yield step if times == 1 else f"{step} ({times} times)"


def _brief(step: str, arguments: int) -> str:
    if (use := ToolUse.read(step)) is None:
        return _shortened(step)
    values = {name: str(value) for name, value in use.arguments.items() if _is_plain(value)}
    named = [f"{name} {value}" for name, value in values.items() if len(value) <= _MAX_VALUE]
    return f"{use.tool}({', '.join(named[:arguments])})" if named and arguments else use.tool


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _shortened(step: str) -> str:
    return step if len(step) <= _MAX_WORDS else f"{step[:_MAX_WORDS]}{_CUT}"


def _cut(text: str, tokens: int) -> str:
    if count_tokens(text) <= tokens:
        return text
    return f"{clip(text, max(0, tokens - count_tokens(_CUT))).rstrip()}{_CUT}"


#: Of a step each; equal memories are shown again and again.
_is_order = lru_cache(maxsize=4_096)(is_order_in_step)


@lru_cache(maxsize=4_096)
def _harmless(text: str) -> str:
    return in_one_line(without_orders(text))


def _sentence(text: str) -> str:
    return f"{in_one_line(text).removesuffix('.')}."
