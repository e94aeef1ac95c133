"""How a service answers who opts out, in or asks."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import TypeVar

from fourtier.memory.retention.opt_outs import OptOuts
from fourtier.memory.tombstones.selection import EVERYTHING, Forgets
from fourtier.runtime.errors import PermanentError
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OptOutRequest, OptOutResponse

T = TypeVar("T")


async def change_opt_out(
    opt_outs: OptOuts,
    request: OptOutRequest,
    sent_at: datetime,
    *,
    scopes: Callable[[], Awaitable[Iterable[Scope]]],
    memories: Forgets[T],
) -> OptOutResponse:
    """Carry out a request; the opt-out is on disk before anything is erased.

    Args:
        opt_outs: of the service.
        request: what is wanted.
        sent_at: when that was asked for.
        scopes: those of the user that have memories; others do no harm.
        memories: of the service.

    Raises:
        PermanentError: it would opt in whom the flow file opts out.
    """
    user, forgotten = request.user, 0
    by_flow = opt_outs.is_out_by_flow(user)
    if request.opted_out:
        await opt_outs.opt_out(user, sent_at, forget=request.forget)
    elif request.opted_out is False:
        if by_flow:
            raise PermanentError(
                "the flow file opts this user out: remove the name from `privacy.opted-out-users` "
                "and start the flow again"
            )
        await opt_outs.opt_in(user, sent_at)
    if request.forget:
        for scope in await scopes():
            if scope.user == user:
                forgotten += len(await memories.erase(scope, EVERYTHING, sent_at))
    known = await opt_outs.of(user)
    return OptOutResponse(
        opted_out=by_flow or known.is_out,
        since=known.out_since,
        by_flow=by_flow,
        forgotten=forgotten,
    )
