"""`fourtier opt-out` and `fourtier opt-in`: what is asked, sent to the services, and shown."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.archive import OPT_OUT_ARCHIVE
from fourtier.schema.opt_out import (
    OPT_OUT_CONVERSATIONS,
    OPT_OUT_EPISODES,
    OPT_OUT_FACTS,
    OPT_OUT_WORKING_MEMORY,
    OptOutRequest,
    OptOutResponse,
    opting_out,
)
from tests.interfaces.cli.support import Command, flow_with

CALLS = (
    OPT_OUT_FACTS,
    OPT_OUT_EPISODES,
    OPT_OUT_CONVERSATIONS,
    OPT_OUT_WORKING_MEMORY,
    OPT_OUT_ARCHIVE,
)
SINCE = datetime(2026, 3, 1, 10, tzinfo=UTC)


class Services:
    """Stand in for the services; `asked` has what each was asked, `out` who says opted out."""

    def __init__(self) -> None:
        self.asked: list[OptOutRequest] = []
        self.out: set[str] = set()
        self.by_flow = False

    def routes(self, *calls: Any) -> list[Route]:
        return [flow_with(*calls), *map(self._answering, calls)]

    def _answering(self, call: Any) -> Route:
        name = call.topic.name

        async def answer(request: OptOutRequest) -> OptOutResponse:
            self.asked.append(request)
            if request.opted_out:
                self.out.add(name)
            elif request.opted_out is False:
                if self.by_flow:
                    raise PermanentError("the flow file opts this user out")
                self.out.discard(name)
            return OptOutResponse(
                opted_out=self.by_flow or name in self.out,
                since=SINCE if name in self.out else None,
                by_flow=self.by_flow,
                forgotten=3 if request.forget else 0,
            )

        return call_route(call, answer)


@pytest.fixture
def services(fourtier: Command) -> Services:
    services = Services()
    fourtier.routes = services.routes(*CALLS)
    return services


def test_every_service_hears_of_it(fourtier: Command, services: Services) -> None:
    assert fourtier("opt-out", "ann") == 0
    assert services.asked == [OptOutRequest(user="ann", opted_out=True)] * 5
    assert "ann is opted out since 2026-03-01 10:00 UTC" in fourtier.said

    assert fourtier("opt-in", "ann") == 0
    assert services.asked[5:] == [OptOutRequest(user="ann", opted_out=False)] * 5
    assert "ann is remembered" in fourtier.said


def test_a_service_that_a_package_adds_hears_of_it(fourtier: Command, services: Services) -> None:
    fourtier.routes = services.routes(*CALLS, opting_out("notes"))
    assert fourtier("opt-out", "ann", "--forget", "--yes") == 0
    assert "notes.opt-out" in services.out
    assert "3 forgotten in notes" in fourtier.said


def test_forgetting_is_asked_for(fourtier: Command, services: Services) -> None:
    assert fourtier("opt-out", "ann", "--forget", stdin=b"n\n") == 1
    assert services.asked == []
    assert "Forget ALL of ann, in all collections?" in fourtier.said

    assert fourtier("opt-out", "ann", "--forget", "--yes") == 0
    assert services.asked == [OptOutRequest(user="ann", opted_out=True, forget=True)] * 5
    assert "3 forgotten in working-memory" in fourtier.said


def test_to_check_changes_nothing(fourtier: Command, services: Services) -> None:
    assert fourtier("opt-out", "ann", "--check") == 0
    assert services.asked == [OptOutRequest(user="ann")] * 5
    assert "ann is remembered" in fourtier.said
    assert fourtier("opt-out", "ann", "--check", "--forget") == 2


def test_services_that_disagree_are_named(fourtier: Command, services: Services) -> None:
    services.out = {call.topic.name for call in CALLS[1:]}
    assert fourtier("opt-out", "ann", "--check") == 0
    assert "facts says otherwise than the others" in fourtier.said


def test_who_is_opted_out_by_the_flow_cannot_opt_in(fourtier: Command, services: Services) -> None:
    services.by_flow = True
    assert fourtier("opt-out", "ann", "--check") == 0
    assert "opted out by the flow file" in fourtier.said
    assert fourtier("opt-in", "ann") == 1
    assert "the flow file opts this user out" in fourtier.said


def test_an_empty_name_is_no_user(fourtier: Command, services: Services) -> None:
    assert fourtier("opt-out", "") == 2
    assert services.asked == []
