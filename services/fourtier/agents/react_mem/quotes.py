"""How memories read as items of quoted data: who said it, when, and what.

Each function gives the raw text of one item, its head on the first line. It is escaped where it is
put between fences (`models.text.quoting.quoted`), and nowhere before.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from fourtier.models.text.quoting import in_one_line, label
from fourtier.schema.agent import AgentStep
from fourtier.schema.archive import ArchiveEntry
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.facts import Fact


def fact_item(fact: Fact) -> str:
    """A fact on one line, with until when it held where that is over."""
    over = [f"held until {fact.valid_until:%Y-%m-%d}"] if fact.valid_until else []
    said = head(fact.speaker or fact.source, fact.timestamp, *over)
    return f"{said}: {in_one_line(fact.content)}"


def entry_item(entry: ArchiveEntry, outdated: Sequence[Fact] = ()) -> str:
    """What was said or read, word for word, with since when it no longer holds.

    Args:
        entry: of the archive.
        outdated: facts that it says, and that newer ones have replaced.
    """
    ends = [fact.valid_until for fact in outdated if fact.valid_until]
    over = [f"no longer holds since {max(ends):%Y-%m-%d}"] if ends else []
    return f"{head(entry.speaker or entry.source, entry.timestamp, *over)}: {entry.content}"


def invocation_items(invocation: InvocationSummary) -> Sequence[str]:
    """An earlier question and the reply to it; of a turn between people only what was said."""
    speaker = label(invocation.speaker) or "the user"
    asked = f"{speaker} ({invocation.timestamp:%Y-%m-%d}): {invocation.query}"
    reply = "\n".join(part for part in (invocation.summary, invocation.result) if part)
    return (asked, f"you: {reply}") if reply else (asked,)


def step_item(step: AgentStep) -> str:
    """An earlier step of reasoning, as the request hands it in."""
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    parts = (
        step.thought,
        f"{label(step.action)}({arguments})" if step.action else "",
        step.observation,
    )
    return "\n".join(part for part in parts if part)


def head(source: str, timestamp: datetime, *more: str) -> str:
    """Who said it, when, and what else is to be known before it is read."""
    about = ", ".join([f"{timestamp:%Y-%m-%d}", *more])
    return f"{label(source)} ({about})" if label(source) else about
