"""`python -m tests.chaos`: the long form, as `make chaos` runs it."""

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fourtier.client import client_on
from fourtier.runtime.bus.pulsar import PulsarSecurity, connect_pulsar
from tests.chaos.faults import Endured, Fault, endure, killed
from tests.chaos.flow import NAMESPACE, SERVICES, TENANT, chaos_flow
from tests.chaos.runs import Load
from tests.chaos.table import problems, table
from tests.chaos.verdict import dead_letters, judge, settled

#: Seconds for one fault, and a second more for each of its runs.
_FOR_A_FAULT = 120.0


async def chaos(place: Path, faults: Sequence[Fault], runs: int, *, cluster: bool) -> bool:
    """Let all faults strike, print the table; whether nothing was lost or doubled."""
    async with (
        chaos_flow(place, cluster=cluster) as flow,
        connect_pulsar(
            flow.bus_url,
            TENANT,
            NAMESPACE,
            security=PulsarSecurity(),
            log_file=str(place / "client.log"),
        ) as bus,
        client_on(bus) as client,
    ):
        load = Load(client)
        endured: list[Endured] = []
        for at, fault in enumerate(faults):
            number = runs * (at + 1) // len(faults) - runs * at // len(faults)
            endured.append(await endure(flow, load, fault, number, _FOR_A_FAULT + number))
            _say(f"{fault.name}: {number} runs in {endured[-1].took:.1f} s")
        found = await settled(client, load.runs, within=20.0)
        letters = await dead_letters(bus)
        verdict = judge(flow, load.runs, found)
    _say(*table(endured, verdict), *problems(verdict), *letters)
    return not (verdict.lost or verdict.doubled or letters)


def _faults(*, cluster: bool, times: int) -> list[Fault]:
    engines = ["pulsar", "neo4j"] if cluster else ["pulsar-lite"]
    return [
        *(killed(name, times=times) for name in SERVICES),
        *(killed(name, times=times, lasts=2.0) for name in engines),
    ]


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


async def _main(arguments: argparse.Namespace) -> bool:
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    faults = _faults(cluster=arguments.cluster, times=arguments.times)
    if arguments.only:
        faults = [fault for fault in faults if any(word in fault.name for word in arguments.only)]
    with tempfile.TemporaryDirectory(prefix="fourtier-chaos-") as temporary:
        place = arguments.keep or Path(temporary)
        return await chaos(place, faults, arguments.runs, cluster=arguments.cluster)


def main() -> int:
    """Read the arguments; 0 when nothing was lost or doubled."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=3, help="how often each fault strikes")
    parser.add_argument("--cluster", action="store_true", help="on Pulsar and Neo4j")
    parser.add_argument("--only", nargs="*", help="faults whose names have one of these words")
    parser.add_argument("--keep", type=Path, help="keep data and logs in this directory")
    return 0 if asyncio.run(_main(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
