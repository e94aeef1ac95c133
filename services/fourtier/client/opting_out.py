"""Opting out: a user is not remembered, in any collection, until opted in again."""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from fourtier.client.declared import services_that_handle
from fourtier.client.requests import new_request
from fourtier.runtime.errors import CallFailedError, FourtierError, UnavailableError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.opt_out import OptOutRequest, OptOutResponse, opting_out


@dataclass(frozen=True, slots=True)
class OptOutState:
    """Whether a user has opted out, as every service that stores memories says.

    Attributes:
        opted_out: in all of them.
        since: since when; None for who is opted in, and for whom the flow file opts out.
        by_flow: the flow file does it, and no call changes that.
        differing: services that say otherwise than the others. The request was lost on its way, or
            their store was restored from a backup: repeat it.
        forgotten: memories that were deleted, by service.
    """

    opted_out: bool
    since: datetime | None
    by_flow: bool
    differing: tuple[str, ...]
    forgotten: dict[str, int]


class UserMemory:
    """Whether users are remembered.

    Calls go to every service of the flow that declares an opt-out; repeating one changes nothing.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def opt_out(self, user: str, *, forget: bool = False) -> OptOutState:
        """Remember a user no more, in any collection.

        Nothing of the user is stored from now on. What is stored is not used, can be listed and
        forgotten, and is used again when the user is opted in; with `forget` it is deleted now.

        Raises:
            InvalidRequestError: that is not a name of a user.
            UnavailableError: a service did not confirm it; it will do so when it is back.
            DeadlineExceededError: the flow does not answer, and nothing has changed.
            CallFailedError: a service answered with an error.
            BusError: the broker did not take the request.
        """
        return await self._ask(user, opted_out=True, forget=forget)

    async def opt_in(self, user: str) -> OptOutState:
        """Remember a user from now on; what was said while opted out stays out of memory.

        Raises: as `opt_out`; `CallFailedError` for whom the flow file opts out.
        """
        return await self._ask(user, opted_out=False)

    async def state(self, user: str) -> OptOutState:
        """Whether a user has opted out.

        Raises: as `opt_out`.
        """
        return await self._ask(user)

    async def _ask(
        self, user: str, *, opted_out: bool | None = None, forget: bool = False
    ) -> OptOutState:
        request = new_request(OptOutRequest, user=user, opted_out=opted_out, forget=forget)
        services = await services_that_handle(self._caller, opting_out)
        asked = await asyncio.gather(
            *(self._caller.call(opting_out(service), request) for service in services),
            return_exceptions=True,  # each service gets it, whatever becomes of the others
        )
        answers: dict[str, OptOutResponse] = {}
        failed: dict[str, BaseException] = {}
        for service, answered in zip(services, asked, strict=True):
            if isinstance(answered, BaseException):
                failed[service] = answered
            else:
                answers[service] = answered
        if failed:
            raise _error(failed)
        return _state(answers)


def _state(answers: dict[str, OptOutResponse]) -> OptOutState:
    out = [service for service, each in answers.items() if each.opted_out]
    others = [service for service in answers if service not in out]
    times = [each.since for each in answers.values() if each.since is not None]
    return OptOutState(
        opted_out=not others,
        since=min(times) if times else None,
        by_flow=any(each.by_flow for each in answers.values()),
        differing=tuple(out if len(out) < len(others) else others),
        forgotten={service: each.forgotten for service, each in answers.items()},
    )


def _error(failed: dict[str, BaseException]) -> BaseException:
    """What to raise: an answer that says no before one that did not come."""
    for error in failed.values():
        if not isinstance(error, FourtierError) or isinstance(error, CallFailedError):
            return error
    reasons = "; ".join(f"{service}: {error}" for service, error in failed.items())
    return UnavailableError(
        f"not confirmed by {', '.join(failed)}, which will do it when running again ({reasons})"
    )
