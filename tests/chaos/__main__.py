"""`python -m tests.chaos`: the long form, as `make chaos` runs it."""

import argparse
import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from tests.chaos.busy import busy_machine
from tests.chaos.endurance import endure_all
from tests.chaos.faults import NOTHING, Fault, hung, killed, slow_model
from tests.chaos.floods import malformed
from tests.chaos.flow import SERVICES
from tests.chaos.forgetting import forgetting
from tests.chaos.full_disk import full_disk
from tests.chaos.redelivery import redelivered
from tests.chaos.replay import replayed
from tests.cluster.jars import MissingToolError

#: What is killed in the middle of a forget.
FORGETFUL = (
    "facts",
    "episodes",
    "conversations",
    "working-memory",
    "archive",
    "memoriser",
    "extraction",
    "promotion",
)


def _faults(*, cluster: bool, times: int) -> list[Fault]:
    engines = ["pulsar", "neo4j"] if cluster else ["pulsar-lite"]
    return [
        *(killed(name, times=times) for name in SERVICES),
        *(killed(name, times=times, lasts=2.0) for name in engines),
        hung("episodes", lasts=40.0),  # longer than a run waits for a tier
        slow_model(lasts=12.0),
        malformed(),
        redelivered(times=times, lasts=3.0),
        replayed(times=times),
        forgetting(times=times),
        *(forgetting(name, times=times) for name in FORGETFUL),
        *(forgetting(name, times=times, lasts=2.0) for name in engines),
        *(full_disk(name, lasts=10.0) for name in ("facts", "conversations") if not cluster),
    ]


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _main(arguments: argparse.Namespace) -> bool:
    # SIGTERM ends us as Ctrl-C does, so that everything that was started is ended too.
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    cluster = arguments.on == "cluster"
    faults = _faults(cluster=cluster, times=arguments.times)
    if arguments.only:
        faults = [fault for fault in faults if any(word in fault.name for word in arguments.only)]
    faults.insert(0, NOTHING)
    with tempfile.TemporaryDirectory(prefix="fourtier-chaos-") as temporary:
        async with busy_machine(arguments.busy):
            trial = await endure_all(
                arguments.keep or Path(temporary),
                faults,
                arguments.runs,
                cluster=cluster,
                overloaded=not arguments.only or "load" in arguments.only,
                report=_print,
            )
    _print(trial.report)
    return trial.passed


def main() -> int:
    """Read the arguments; 0 when nothing was lost, doubled or back from the dead."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="of all faults together")
    parser.add_argument("--times", type=int, default=3, help="how often each fault strikes")
    parser.add_argument(
        "--on",
        choices=["embedded", "cluster"],
        default="embedded",
        help="the engines; cluster: Pulsar and Neo4j",
    )
    parser.add_argument(
        "--busy", type=int, default=0, help="processes that take the processors meanwhile"
    )
    parser.add_argument("--only", nargs="*", help="faults whose names have one of these words")
    parser.add_argument("--keep", type=Path, help="a new directory in which data and logs stay")
    try:
        return 0 if asyncio.run(_main(parser.parse_args())) else 1
    except MissingToolError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
