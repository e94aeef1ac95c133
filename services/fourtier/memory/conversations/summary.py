"""What an agent did in a run, in plain words made from its steps; no model is asked."""

from collections.abc import Sequence
from itertools import groupby

from fourtier.schema.agent import AgentStep

#: Characters of the list of tools.
_MAX_LISTED = 2_000


def in_plain_words(steps: Sequence[AgentStep], *, succeeded: bool) -> str:
    """Name the tools in the order of their use; nothing for an answer from the head."""
    tools = [step.action for step in steps if step.action]
    uses = [_times(tool, len(list(run))) for tool, run in groupby(tools)]
    listed = ", then ".join(uses)
    if len(listed) > _MAX_LISTED:
        listed = f"{listed[:_MAX_LISTED]} …"
    used = [f"Used {listed}."] if uses else []
    return " ".join([*used, *([] if succeeded else ["Did not succeed."])])


def _times(tool: str, number: int) -> str:
    match number:
        case 1:
            return tool
        case 2:
            return f"{tool} twice"
        case _:
            return f"{tool} {number} times"
