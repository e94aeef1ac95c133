"""`fourtier facts names`, and `fourtier facts search --mentions`."""

import json

from fourtier.runtime.rpc.routes import call_route
from fourtier.schema.facts import (
    LIST_NAMES,
    RETRIEVE_FACTS,
    ListNamesRequest,
    ListNamesResponse,
    MentionedName,
    RetrieveFactsRequest,
    RetrieveFactsResponse,
)
from tests.interfaces.cli.support import Command


def test_the_command_shows_names_and_what_is_mentioned_with_one(fourtier: Command) -> None:
    asked: list[ListNamesRequest] = []

    async def answer(request: ListNamesRequest) -> ListNamesResponse:
        asked.append(request)
        if request.with_name == "Nobody":
            return ListNamesResponse(names=())
        return ListNamesResponse(names=(MentionedName(name="Ber\x1bgen", facts=2),))

    fourtier.routes = [call_route(LIST_NAMES, answer)]
    assert fourtier("facts", "names", "--user", "ann", "--limit", "7") == 0
    assert (asked[-1].user, asked[-1].limit, asked[-1].with_name) == ("ann", 7, "")
    assert fourtier.said == "name facts Ber\\x1bgen 2"

    assert fourtier("facts", "names", "--with", "Anna", "--json") == 0
    assert asked[-1].with_name == "Anna"
    assert json.loads(fourtier.out) == [{"name": "Ber\x1bgen", "facts": 2}]

    assert fourtier("facts", "names", "--with", "Nobody") == 0
    assert fourtier.said == "No names found."
    for wrong in (["--with", ""], ["--with", "x" * 513], ["--limit", "0"]):
        assert fourtier("facts", "names", *wrong) == 2
    assert len(asked) == 3


def test_a_search_by_names_passes_them_on(fourtier: Command) -> None:
    asked: list[RetrieveFactsRequest] = []

    async def answer(request: RetrieveFactsRequest) -> RetrieveFactsResponse:
        asked.append(request)
        return RetrieveFactsResponse(facts=())

    fourtier.routes = [call_route(RETRIEVE_FACTS, answer)]
    assert fourtier("facts", "search", "rain", "--mentions", "Anna", "--mentions", "Tom") == 0
    assert asked[-1].mentions == ("Anna", "Tom")
    assert fourtier("facts", "search", "rain") == 0
    assert asked[-1].mentions == ()
    assert fourtier("facts", "search", "rain", "--mentions", "") == 2
    assert "at least 1 character" in fourtier.said
    assert len(asked) == 2
