"""What the backlogs on the bus mean: which of them are problems, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass

from fourtier.operations.backlogs import Queue
from fourtier.operations.doctor.findings import Finding, duration
from fourtier.runtime.rpc.dead_letter_queue import OPERATOR

#: Share of the backlog quota; beyond it the broker rejects what is published.
_NEARLY_FULL = 0.8


@dataclass(frozen=True, slots=True)
class Judging:
    """What is a problem, and for which flow the remedies are.

    Attributes:
        old_after: seconds after which a message that is not acknowledged is stuck.
        at: when the look began, in seconds since the epoch: ages are counted up to it.
    """

    flow: str
    old_after: float
    at: float

    def age(self, queue: Queue) -> float:
        """How long the oldest message of a queue has waited, in seconds."""
        return self.at - queue.oldest_at


def findings_of(queues: Sequence[Queue], judging: Judging) -> list[Finding]:
    """A line for each queue in which something waits, and one for each kind of empty ones.

    Dead letters are not counted here: another line has them.
    """
    there = [queue for queue in queues if queue.exists and queue.group != OPERATOR]
    quiet = [queue for queue in there if not queue.messages and queue.versions]
    unattended = [queue for queue in there if not queue.messages and not queue.versions]
    findings = [_waiting(queue, judging) for queue in there if queue.messages]
    if missing := [queue for queue in queues if not queue.exists]:
        findings.insert(0, _missing(missing, len(queues), judging))
    if unattended:
        findings.insert(0, _unattended(unattended, judging))
    if quiet:
        found = f"nothing waits in {len(quiet)} of {len(there)}"
        findings.insert(0, Finding(what="queues", well=True, found=found))
    return findings


def _missing(missing: Sequence[Queue], all_of: int, judging: Judging) -> Finding:
    names = ", ".join(f"{queue.topic} for {queue.group}" for queue in missing)
    which = f"all {all_of}" if len(missing) == all_of else names
    return Finding(
        what="missing queues",
        well=False,
        found=f"{which}: what is published is not stored for the service that handles it",
        remedy=f"run `fourtier init {judging.flow}`",
    )


def _unattended(unattended: Sequence[Queue], judging: Judging) -> Finding:
    services = ", ".join(dict.fromkeys(queue.group for queue in unattended))
    return Finding(
        what="queues without replicas",
        well=False,
        found=f"nothing waits in {len(unattended)}, and nobody would take it: {services}",
        remedy=_start("SERVICE", judging),
    )


def _waiting(queue: Queue, judging: Judging) -> Finding:
    problems = _problems(queue, judging)
    waits = "1 message waits" if queue.messages == 1 else f"{queue.messages:,} messages wait"
    waits = f"{waits}, the oldest for {duration(judging.age(queue))}"
    wrong = ", and ".join(what for what, _ in problems)
    return Finding(
        what=f"{queue.topic} for {queue.group}",
        well=not problems,
        found=f"{waits}: {wrong}" if wrong else waits,
        remedy="; ".join(remedy for _, remedy in problems),
    )


def _problems(queue: Queue, judging: Judging) -> list[tuple[str, str]]:
    """What is wrong, each with what to do. A queue that fills up is often an old one too."""
    service = queue.group
    problems = []
    if not queue.versions:
        problems.append(("nobody takes them", _start(service, judging)))
    elif judging.age(queue) > judging.old_after:
        remedy = f"see in the log of {service} what fails; if nothing does, run more replicas of it"
        problems.append(("that is long", remedy))
    if queue.quota_used > _NEARLY_FULL:
        used = f"{queue.quota_used:.0%} of the backlog quota, beyond which publishing is rejected"
        more = f"raise bus.topics.backlog-megabytes and run `fourtier init {judging.flow}`"
        problems.append((used, f"if they cannot be handled in time, {more}"))
    return problems


def _start(service: str, judging: Judging) -> str:
    return f"start it (`fourtier serve {judging.flow} {service}`), or see in its log why it ended"
