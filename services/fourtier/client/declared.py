"""Which services of a flow handle a call that each service may declare for itself."""

from collections.abc import Callable
from typing import Any

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.flow import FLOW_SERVICES, FlowServicesRequest
from fourtier.schema.topics import Call


async def services_that_handle(
    caller: Caller, call_of: Callable[[str], Call[Any, Any]]
) -> list[str]:
    """The services of the flow that declare a call, in the order of the flow.

    Args:
        caller: asks the flow.
        call_of: the call of a service by its name, such as `erasure`.

    Raises:
        DeadlineExceededError: the flow does not answer.
        BusError: the broker does not take the question.
    """
    flow = await caller.call(FLOW_SERVICES, FlowServicesRequest())
    return [each.name for each in flow.services if call_of(each.name).topic.name in each.handles]
