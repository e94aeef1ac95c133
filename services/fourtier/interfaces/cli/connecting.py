"""Run one call against a running flow."""

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fourtier.client import Client
    from fourtier.runtime.bus.contract import Bus

T = TypeVar("T")


def with_client(flow: str, call: "Callable[[Client], Awaitable[T]]") -> T:
    """Connect to a flow, make a call as its client, and close the connection.

    Raises:
        StartupError: no flow is running there.
        FlowError: there is no such flow.
        FourtierError: what the call raises.
    """
    from fourtier.operations.connection import open_client

    async def run() -> T:
        async with open_client(flow) as client:
            return await call(client)

    return asyncio.run(run())


def with_bus(flow: str, call: "Callable[[Bus], Awaitable[T]]") -> T:
    """Connect to a flow's bus, make a call on it, and close the connection.

    Raises: as `with_client`.
    """
    from fourtier.operations.connection import open_flow_bus

    async def run() -> T:
        async with open_flow_bus(flow) as bus:
            return await call(bus)

    return asyncio.run(run())


async def require_service(client: "Client", flow: str, service: str) -> None:
    """See that a service answers, before it is asked for what may take long.

    Raises:
        UnavailableError: it does not within a few seconds; says why, if the flow tells.
    """
    from fourtier.flows.model import read_flow
    from fourtier.runtime.errors import DeadlineExceededError, UnavailableError
    from fourtier.schema.status import StatusRequest, status_of

    try:
        await client.caller.call(status_of(service), StatusRequest())
    except DeadlineExceededError as error:
        if service in read_flow(flow).services:
            raise
        raise UnavailableError(f"the flow {flow} has no service {service}: add it") from error
