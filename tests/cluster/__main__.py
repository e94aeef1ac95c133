"""`python -m tests.cluster [COMMAND ...]`: run a command with Pulsar and Neo4j running.

Without a command it prints their addresses and runs them until Ctrl-C, to develop against.
"""

import asyncio
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.cluster.engines import Running, running_engines
from tests.cluster.jars import MissingToolError
from tests.support.scratch import in_memory

#: One for each process of the tests.
_GRAPHS = 2


def _environment(running: Running) -> list[str]:
    return [
        f"FOURTIER_TEST_PULSAR_URL={running.pulsar_url}",
        f"FOURTIER_TEST_PULSAR_ADMIN_URL={running.pulsar_admin_url}",
        f"FOURTIER_TEST_NEO4J_URL={','.join(running.neo4j_urls)}",
        "FOURTIER_TEST_FLOWS=1",
    ]


async def _run(command: list[str]) -> int:
    # SIGTERM ends us as Ctrl-C does, so that the engines are ended too.
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with tempfile.TemporaryDirectory(prefix="fourtier-cluster-", dir=in_memory()) as directory:
        async with running_engines(Path(directory), graphs=_GRAPHS) as running:
            environment = _environment(running)
            if not command:
                sys.stdout.write("\n".join([*environment, "Ctrl-C ends them.", ""]))
                sys.stdout.flush()
                await asyncio.Event().wait()
            process = await asyncio.create_subprocess_exec("env", *environment, *command)
            try:
                return await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()


def main() -> int:
    """Start, run, stop; the exit code is the command's."""
    try:
        with suppress(KeyboardInterrupt, asyncio.CancelledError):
            return asyncio.run(_run(sys.argv[1:]))
    except MissingToolError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 130


if __name__ == "__main__":
    sys.exit(main())
