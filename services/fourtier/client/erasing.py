"""Asks the services of a flow to erase memories, by what each of them declares."""

from collections.abc import Iterable, Sequence
from typing import Any

from fourtier.client.declared import services_that_handle
from fourtier.client.forgotten import NOTHING
from fourtier.client.requests import new_request
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.erasure import EraseRequest, EraseResponse, erasure
from fourtier.schema.message import Scope


class Erasing:
    """Erases memories of one scope; with `dry_run` the services only say what they would erase.

    Attributes:
        services: those of the flow that declare an erasure.
    """

    def __init__(
        self, caller: Caller, scope: Scope, services: Sequence[str], *, dry_run: bool
    ) -> None:
        self.services = services
        self._caller = caller
        self._scope = scope
        self._dry_run = dry_run

    @classmethod
    async def begin(cls, caller: Caller, scope: Scope, *, dry_run: bool) -> "Erasing":
        """Ask the flow which of its services erase.

        Raises: as `services_that_handle`.
        """
        services = await services_that_handle(caller, erasure)
        return cls(caller, scope, services, dry_run=dry_run)

    async def of(self, service: str, *, look: bool = False, **selected: Any) -> EraseResponse:
        """Erase what one service stores; nothing where the flow does not have the service.

        Args:
            service: its name.
            look: only say what the service would erase, without `dry_run` too.
            selected: fields of `EraseRequest`.

        Raises:
            InvalidRequestError: a field cannot be used.
            CallFailedError: the service answered with an error.
            DeadlineExceededError: the service does not answer.
            BusError: the broker does not take the request.
        """
        if service not in self.services:
            return NOTHING
        request = new_request(
            EraseRequest,
            user=self._scope.user,
            collection=self._scope.collection,
            dry_run=self._dry_run or look,
            **selected,
        )
        return await self._caller.call(erasure(service), request)

    async def everywhere(
        self, *, without: Iterable[str] = (), **selected: Any
    ) -> dict[str, EraseResponse]:
        """Erase the same in every service, one after the other, except in some of them.

        Raises: as `of`.
        """
        left_out = frozenset(without)
        return {
            service: await self.of(service, **selected)
            for service in self.services
            if service not in left_out
        }
