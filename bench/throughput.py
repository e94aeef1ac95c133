"""Runs in a second with one, two and four agents, the model at zero latency; and who is busy then.

    make install
    .venv/bin/python -m bench.throughput --cluster     # Pulsar and Neo4j (JDK 17, Maven)
    .venv/bin/python -m bench.throughput               # the embedded engines, one process
    [--replicas 1 2 4] [--scale agent completion ...] [--conversations 32] [--runs 600]
    [--without archive memoriser researcher]

With --cluster each service is a process of its own, Pulsar and Neo4j are started for the purpose,
and the services of --scale run as often as --replicas says, one number after the other. The others
run once. Vectors stay in the processes of facts and episodes, for tests cannot start Qdrant, so
these two cannot be scaled here. Without --cluster it is `fourtier up`, and there is one line: of
`pulsar-lite` one consumer of a subscription at a time gets messages with a key, so more agents
would wait.

Conversations, each of another user, ask one question after another: a closed loop. Each question
states a fact, so that memory has work behind the answers too. A scripted server answers completions
at once. It runs in the process of the benchmark, as the clients do, and all share the machine.

Half as many runs come before each number of replicas and are not counted, for the first questions
find everything cold; Neo4j takes hundreds until it is quick.

The first table has a line for each number of replicas. "behind" are the seconds after the last
answer until memory had all facts, "busy" is how much of all processors was in use meanwhile, and
"partial" are the runs that had to go without a tier of memory. The second table shows the
processes: milliseconds of processor time for one run, in all replicas of a service together and
with what memory did of it later; the share of one processor that the busiest replica had while runs
were asked; and its memory at the end. A process of Python gets little more than one processor. So
runs stop growing where the machine has no processor left (busy near 100 %), or where a process that
is not scaled has a whole one (share near 100 %).
"""

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from bench.deployments import ALONE, cluster, embedded, road_without
from bench.load import Measured, measure

from fourtier.client import connect
from tests.cluster.jars import MissingToolError
from tests.road.services import ROAD
from tests.support.model import ModelRequest, Says, scripted_model


def show(levels: list[Measured]) -> None:
    """Print the two tables."""
    print(
        f"\n{'replicas':>8}{'runs/s':>9}{'ratio':>7}{'p50 ms':>9}{'p95 ms':>9}"
        f"{'behind s':>10}{'busy':>7}{'partial':>9}"
    )
    for level in levels:
        print(
            f"{level.replicas:>8}{level.rate:>9.1f}{level.rate / levels[0].rate:>7.2f}"
            f"{level.quantile(50):>9.1f}{level.quantile(95):>9.1f}"
            f"{level.behind:>10.1f}{level.busy:>7.0%}{level.partial:>9}"
        )
    numbers = "".join(f"{level.replicas:>8}" for level in levels)
    print(f"\n{'':<24}{'cpu ms for a run':<{len(numbers)}}{'  share of one cpu'}")
    print(f"{'process':<24}{numbers}{numbers}{'MiB':>8}")
    for name in levels[-1].resident:
        cpu = "".join(f"{level.cpu_for_a_run(name):>8.1f}" for level in levels)
        share = "".join(f"{level.share[name]:>8.0%}" for level in levels)
        print(f"{name:<24}{cpu}{share}{levels[-1].resident[name]:>8}")


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure each number of replicas, print."""

    def answer(_request: ModelRequest) -> Says:
        return Says("Good to know.")

    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fourtier-bench-")))
        model = await stack.enter_async_context(scripted_model(script=answer))
        services = road_without(arguments.without)
        if arguments.cluster:
            starting = cluster(directory, model.url, arguments.scale, services)
        else:
            starting = embedded(directory, model.url, services)
            arguments.replicas = [1]
            print("Embedded engines: one process, and one agent; more would wait for each other.")
        deployment = await stack.enter_async_context(starting)
        client = await stack.enter_async_context(
            connect(
                deployment.bus_url,
                tenant=deployment.tenant,
                namespace=deployment.namespace,
                token=deployment.token,
            )
        )
        levels: list[Measured] = []
        for replicas in sorted(arguments.replicas):
            await deployment.scale(replicas)
            levels.append(
                await measure(client, deployment, replicas, arguments.conversations, arguments.runs)
            )
            model.requests.clear()
            print(f"{replicas} of {', '.join(arguments.scale)}: {levels[-1].rate:.1f} runs/s")
        show(levels)


def main() -> int:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.throughput",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument(
        "--scale", nargs="+", default=["agent"], choices=[s for s in ROAD if s not in ALONE]
    )
    parser.add_argument(
        "--without", nargs="+", default=[], choices=list(ROAD), help="services that are left out"
    )
    parser.add_argument("--conversations", type=int, default=32)
    parser.add_argument("--runs", type=int, default=600, help="for each number of replicas")
    try:
        asyncio.run(run(parser.parse_args()))
    except MissingToolError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
