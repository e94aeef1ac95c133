"""Names through the service and the client."""

from pathlib import Path

import pytest

from fourtier.client import InvalidRequestError, client_on
from fourtier.schema.erasure import ERASE_FACTS
from fourtier.schema.facts import (
    LIST_NAMES,
    ListNamesRequest,
    MentionedName,
)
from fourtier.schema.message import Scope
from fourtier.schema.opt_out import OPT_OUT_FACTS, OptOutRequest
from tests.support.erasing import erase
from tests.support.flow import running_flow

ANN, BOB = Scope("ann", "default"), Scope("bob", "default")


async def test_names_are_listed_searched_by_and_forgotten(tmp_path: Path) -> None:
    services = {"embeddings": {}, "facts": {"ttl-days": 30_000}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        stored = await client.facts.store(ANN, "I met Ingrid in Bergen", speaker="ann")
        await client.facts.store(ANN, "Bergen is rainy", speaker="ann")
        await client.facts.store(ANN, "It rains all day", speaker="Caroline")
        await client.facts.store(BOB, "Ingrid lives in Narvik", speaker="bob")

        listed = await client.facts.names(ANN)
        assert [(each.name, each.facts) for each in listed] == [
            ("Bergen", 2),
            ("Caroline", 1),
            ("Ingrid", 1),
        ]
        assert await client.facts.names(ANN, limit=1) == (MentionedName(name="Bergen", facts=2),)
        together = await client.facts.names(ANN, with_name="ingrid")
        assert together == (MentionedName(name="Bergen", facts=1),)
        found = await client.facts.search(ANN, "rain", mentions=["caroline", "INGRID"])
        assert {fact.content for fact in found} == {"I met Ingrid in Bergen", "It rains all day"}

        await erase(client.caller, ERASE_FACTS, ANN, ids=(stored.fact_id,))
        assert {each.name for each in await client.facts.names(ANN)} == {"Bergen", "Caroline"}

        await flow.caller.call(OPT_OUT_FACTS, OptOutRequest(user="ann", opted_out=True))
        answer = await flow.caller.call(LIST_NAMES, ListNamesRequest(user="ann"))
        assert (answer.names, answer.opted_out) == ((), True)
        assert len(await client.facts.names(BOB)) == 2

        with pytest.raises(InvalidRequestError):
            await client.facts.search(ANN, "rain", mentions=[""])
        with pytest.raises(InvalidRequestError):
            await client.facts.search(ANN, "rain", mentions=["Tom"] * 101)
        with pytest.raises(InvalidRequestError):
            await client.facts.names(ANN, limit=0)
