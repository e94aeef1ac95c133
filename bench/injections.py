"""Attempts to make the assistant obey what it remembers: how many leave their fence or are stored.

    .venv/bin/python -m bench.injections [--show]

Each attempt of `tests/data/injections` is put into every place where something remembered can
stand; the prompt that the agent builds is read as the endpoint gets it, in each dialect, and
compared with the same prompt around a harmless word. It is stored as a preference if it, or a
sentence of it, would stand among the user's wishes, which the assistant is to heed. Then each is
learned as its road has it: said to the agent, said in a dialogue, written down by a model, stored
by the agent's tool. What is stored in spite of the rules is a fenced fact and nothing more. Last it
is the lesson of an episode.

All of `tests/data/injections` was read while the defences were made, `report` and `classes` since
the classes of `directives.py`: for a figure of attempts that the rules have not seen, put them into
`NAME.jsonl` and `harmless_NAME.jsonl` there.
"""

import argparse
import asyncio

from fourtier.models.text.wishes import is_wish
from tests.support.injections import (
    ROADS,
    Attempt,
    attempts,
    by_road,
    halves,
    harmless,
    is_heeded,
    is_in_lesson,
    is_stored,
    places,
    stored,
    unfenced,
)


async def _row(name: str, found: list[Attempt] | tuple[Attempt, ...], *, show: bool) -> str:
    escaped = heeded = held = shown = tellable = 0
    for attempt in found:
        problems, facts = unfenced(attempt), await is_stored(attempt)
        escaped += bool(problems)
        heeded += is_heeded(attempt)
        held += bool(facts)
        shown += is_in_lesson(attempt)
        tellable += bool(attempt.order) and attempt.road != "name or id"
        if show and (problems or facts):
            print(f"    {attempt.text!r}: {problems or ''} {facts or ''}")
    rates = [f"{of}/{tellable} ({of / tellable:.1%})" if tellable else "-" for of in (held, shown)]
    number = len(found)
    return (
        f"| {name} | {number} | {escaped}/{number} ({escaped / number:.1%}) "
        f"| {heeded}/{number} ({heeded / number:.1%}) | {' | '.join(rates)} |"
    )


async def main() -> None:
    """Print a table for each file of attempts."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--show", action="store_true", help="print what was not stopped")
    show = arguments.parse_args().show
    print(f"Each attempt in {len(places(''))} places and 3 dialects.")
    for half in halves():
        found = attempts(half)
        print(
            f"\n| {half} | attempts | reach a prompt unfenced | stored as a preference "
            "| stored as a fenced fact | stored as a fenced lesson |"
        )
        print("|---|---|---|---|---|---|")
        roads = by_road(found)
        for road in filter(roads.__contains__, ROADS):
            print(await _row(road, tuple(roads[road]), show=show))
        print(await _row("all", found, show=False))
        held = [text for text in harmless(half) if text in await stored(text)]
        lost = [text for text in harmless(half) if text not in held]
        wishes = sum(map(is_wish, harmless(half)))
        print(f"{wishes} of {len(harmless(half))} harmless statements are stored as preferences")
        print(f"false alarms: {len(lost)} of {len(harmless(half))} harmless statements")
        if show:
            print(*(f"    {text!r}" for text in lost), sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
