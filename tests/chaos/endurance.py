"""A whole trial: a flow, faults one after another, and what is there at the end."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fourtier.client import client_on
from fourtier.runtime.bus.pulsar.connection import PulsarSecurity, connect_pulsar
from tests.chaos.faults import Endured, Fault, endure, nothing, warm_up
from tests.chaos.findings import out_of_step, resolved
from tests.chaos.floods import overload
from tests.chaos.flow import NAMESPACE, TENANT, chaos_flow
from tests.chaos.replay import taped
from tests.chaos.runs import CONVERSATIONS, Load
from tests.chaos.table import problems, table
from tests.chaos.verdict import Verdict, dead_letters, judge

#: Seconds for one fault, and a second more for each of its runs.
_FOR_A_FAULT = 120.0
#: Memory has come to rest when nothing more is stored for so many seconds.
_RESTS_AFTER = 60.0


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Attributes:
        leftovers: dead letters, and facts that the vectors do not know or should not.
    """

    endured: Sequence[Endured]
    verdict: Verdict
    leftovers: Sequence[str]

    @property
    def passed(self) -> bool:
        """Whether nothing was lost, doubled, back from the dead or dead-lettered."""
        return not (list(problems(self.endured, self.verdict)) or self.leftovers)

    @property
    def report(self) -> str:
        """The table, and a line for everything that is wrong."""
        rows = table(self.endured, self.verdict)
        return "\n".join([*rows, *problems(self.endured, self.verdict), *self.leftovers])


async def endure_all(
    directory: Path,
    faults: Sequence[Fault],
    runs: int,
    *,
    cluster: bool = False,
    overloaded: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Let faults strike one after another, each among its share of the runs.

    With `overloaded` there comes a flood of questions at the end.
    """
    async with (
        chaos_flow(directory, cluster=cluster) as flow,
        connect_pulsar(
            flow.bus_url,
            TENANT,
            NAMESPACE,
            security=PulsarSecurity(),
            log_file=str(directory / "client.log"),
        ) as bus,
        client_on(bus) as client,
        taped(bus) as tape,
    ):
        load = Load(client)
        load.replay = lambda: tape.replay(bus, without=load.shed())
        endured = [await warm_up(load)]
        for at, fault in enumerate(faults):
            number = runs * (at + 1) // len(faults) - runs * at // len(faults)
            endured.append(await endure(flow, load, fault, number, _FOR_A_FAULT + number))
            report(f"{fault.name}: {number} runs in {endured[-1].took:.1f} s")
        await resolved(client, load.runs, within=_RESTS_AFTER)
        endured.append(await _replay_all(load))
        report(f"{endured[-1].note} in {endured[-1].took:.1f} s")
        await resolved(client, load.runs, within=_RESTS_AFTER)
        # Behind the replay: a question that was shed would be answered, were it asked once more.
        if overloaded:
            endured.append(await overload(flow, load, within=3 * _FOR_A_FAULT))
            report(f"overload in {endured[-1].took:.1f} s")
        found = await resolved(client, load.runs, within=_RESTS_AFTER)
        verdict = judge(flow.ledger, flow.script, load.runs, found)
        leftovers = [*await dead_letters(bus), *await out_of_step(client, within=_RESTS_AFTER)]
        return Trial(endured, verdict, leftovers)


async def _replay_all(load: Load) -> Endured:
    """Publish all messages again when memory has come to rest, and let every conversation go on.

    What is asked behind the replay is handled behind it, so that when it is stored, the replay is
    over in its scope.
    """
    began = time.monotonic()
    number = await load.replay()
    runs = [
        run
        for user in dict.fromkeys(run.scope.user for run in load.runs)
        for run in load.more("replay of all", CONVERSATIONS, users=(user,))
    ]
    await load.ask(runs)
    endured = Endured(nothing("replay of all"), runs, time.monotonic() - began)
    endured.note = f"{number} messages published again"
    return endured
