"""A disk that is full under one service; with room again, its dead letters are replayed."""

from fourtier.operations.dead_letters import replay_dead_letters
from tests.chaos.faults import Fault
from tests.chaos.floods import bus_of
from tests.chaos.flow import ChaosFlow
from tests.cluster.server import Server

#: Bytes to which a file may grow: a few transactions of a graph.
_ROOM = 20_000


def full_disk(name: str, *, lasts: float) -> Fault:
    """No file of a service can grow any more; an operator finds room and replays what failed."""

    async def strike(flow: ChaosFlow) -> None:
        await flow.servers[name].stop()
        await _run(flow, name, flow.service(name, _ROOM))

    async def heal(flow: ChaosFlow) -> None:
        await flow.servers[name].kill()
        await _run(flow, name, flow.service(name, None))
        async with bus_of(flow) as bus:
            await replay_dead_letters(bus, name)

    return Fault(f"full disk: {name}", strike, heal, lasts=lasts)


async def _run(flow: ChaosFlow, name: str, server: Server) -> None:
    flow.servers[name] = server
    await server.start()
