"""What the service asks the archive for: the scope, legs and vector of each search."""

from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.role_choice import RoleChoice
from fourtier.agents.researcher.service import ResearcherService
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import open_caller
from fourtier.runtime.rpc.routes import call_route
from fourtier.runtime.settings import Settings
from fourtier.schema.archive import SEARCH_ARCHIVE, SearchArchiveRequest, SearchArchiveResponse
from fourtier.schema.message import Vector
from fourtier.schema.researcher import ResearchRequest
from tests.agents.researcher.test_research import COUNTERPARTS, PEART, QUESTION
from tests.runtime.rpc.support import served

VECTOR = Vector.of([1.0, 2.0])


async def test_the_vector_of_the_question_is_that_of_no_other_search() -> None:
    asked: list[SearchArchiveRequest] = []

    async def search(request: SearchArchiveRequest) -> SearchArchiveResponse:
        asked.append(request)
        return SearchArchiveResponse(hits=(COUNTERPARTS if len(asked) == 1 else PEART,))

    bus, parameters = MemoryBus(), ResearcherParameters(method="rule")
    request = ResearchRequest(user="ann", collection="work", question=QUESTION, embedding=VECTOR)
    async with served(bus, call_route(SEARCH_ARCHIVE, search)), open_caller(bus) as caller:
        choice = RoleChoice(caller, Settings(), parameters)
        service = ResearcherService(caller, parameters, choice)
        _ = [step async for step in service.research(request)]

    first, *others = asked
    assert (first.query, first.legs, first.embedding) == (QUESTION, (), VECTOR)
    assert others
    assert {(each.legs, each.embedding) for each in others} == {(("words",), None)}
    assert {each.scope for each in asked} == {request.scope}
