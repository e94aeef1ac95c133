"""Erases in one service alone; `client.forget` erases everywhere."""

from typing import Any

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.erasure import EraseRequest, EraseResponse
from fourtier.schema.message import Scope
from fourtier.schema.topics import Call


async def erase(
    caller: Caller, call: Call[EraseRequest, EraseResponse], scope: Scope, **selected: Any
) -> int:
    """Erase what is selected; returns how many memories there were."""
    request = EraseRequest(user=scope.user, collection=scope.collection, **selected)
    return (await caller.call(call, request)).number
