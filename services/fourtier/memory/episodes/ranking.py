"""In which order episodes are handed over: of each of the nearest goals a success and a failure.

Who tries the same thing every day has many episodes of it, and three that say the same leave no
place for another. So of each of the nearest goals the best comes first, behind it the best of those
that ended otherwise, and then the next goal; all others follow in the order in which they were
found. Where nothing tells how an episode ended, it stands for a goal of its own.
"""

from collections.abc import Sequence

from fourtier.memory.episodes.resemblance import Resemblance
from fourtier.schema.episodes import Episode

#: Goals of which a success and a failure come first.
_NEAREST = 3


def arranged(found: Sequence[Episode], resemblance: Resemblance) -> list[Episode]:
    """What was found, the best first, in the order in which it is handed over."""
    goals: list[list[Episode]] = []
    for episode in found:
        if episode.result == "unknown":
            goals.append([episode])
            continue
        known = (each for each in goals if resemblance.same_goal(each[0], episode))
        same = next((each for each in known if each[0].result != "unknown"), None)
        if same is None:
            goals.append([episode])
        else:
            same.append(episode)
    first = [episode for goal in goals[:_NEAREST] for episode in _first(goal)]
    shown = {episode.id for episode in first}
    return [*first, *(episode for episode in found if episode.id not in shown)]


def _first(of_goal: Sequence[Episode]) -> list[Episode]:
    """The best of a goal, and the best of it that ended otherwise."""
    other = next((each for each in of_goal if each.result != of_goal[0].result), None)
    return [of_goal[0], *([other] if other else [])]
