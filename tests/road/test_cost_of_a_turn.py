"""What one turn costs, in numbers that do not hang on the machine.

All services are in one process, on the engines of a laptop. A number that becomes smaller is to be
made smaller here; one that grows needs a reason.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.engines.graph.ladybug.store import LadybugGraphStore
from fourtier.engines.vectors.edge.store import EdgeVectorStore
from fourtier.runtime.bus.contract import Address
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import AGENT_REQUEST, AgentRequest
from fourtier.schema.completion import CompleteRequest
from fourtier.schema.embeddings import EmbedRequest
from tests.road.services import ROAD
from tests.support.flow import running_flow
from tests.support.model import Calls, ModelRequest, Says, scripted_model
from tests.support.waiting import wait_until

pytestmark = pytest.mark.embedded

Reply = Callable[[ModelRequest], Calls | Says]
STATEMENT = "My sister lives in Oslo, by the sea."
TURN = {
    # Through the broker goes what must not be lost; questions and answers go from hand to hand.
    "agent.request": 1,
    "working-memory.append": 1,
    "invocation.ended": 1,
    "working-memory.discard": 1,
    "facts.store": 1,
    # Each waits for a disk; only the first of them while somebody waits for the answer.
    "transaction working-memory": 2,
    "transaction conversations": 1,
    "transaction archive": 1,
    "transaction facts": 2,  # the fact, and that it has been compared with similar ones
    "points written": 2,
    # The question to search with, question and answer in the archive, and the fact twice.
    "text to embed": 5,
    "completion": 1,
}
WRITTEN = {name: times for name, times in TURN.items() if name.startswith(("transa", "points"))}


def says(_request: ModelRequest) -> Says:
    return Says("Noted.")


def divides(request: ModelRequest) -> Calls | Says:
    if "sister" in request.last:
        return Calls("calculator", {"expression": "1200/8"}, thought="divide")
    return Says("Noted.")


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What has been sent, written, read and embedded, by name."""
    counted: Counter[str] = Counter()

    def count(owner: type, name: str, of: Callable[..., Sequence[str]]) -> None:
        real: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def counting(*arguments: Any, **options: Any) -> Any:
            counted.update(of(*arguments, **options))
            return await real(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    def published(_bus: MemoryBus, address: Address, *_: Any, **__: Any) -> Sequence[str]:
        return [address.name]

    def sent(_caller: Caller, _topic: Any, message: Any, *_: Any) -> Sequence[str]:
        if isinstance(message, CompleteRequest):
            return ["completion in pieces" if message.streaming else "completion"]
        return ["text to embed"] * len(message.texts) if isinstance(message, EmbedRequest) else []

    def written(store: LadybugGraphStore, *_: Any) -> Sequence[str]:
        return [f"transaction {store._manifest.path.parent.name}"]

    def read(_store: LadybugGraphStore, _scope: Any, text: str, **_: Any) -> Sequence[str]:
        return [f"look for {label}" for label in ("Tombstone", "OptOut") if label in text]

    count(MemoryBus, "publish", published)
    count(Caller, "_send", sent)
    count(LadybugGraphStore, "write", written)
    count(LadybugGraphStore, "read", read)
    count(EdgeVectorStore, "upsert", lambda *_: ["points written"])
    return counted


async def cost_of_a_turn(
    data: Path, costs: Counter[str], script: Reply, expected: Mapping[str, int]
) -> dict[str, int]:
    """Of the second turn of a conversation; it tells something new.

    Args:
        data: for the stores.
        costs: is counted up.
        script: of the model.
        expected: a turn is over when it has cost as much.
    """
    services = {name: set_ for name, set_ in ROAD.items() if name != "promotion"}
    async with (
        scripted_model(script=script) as model,
        running_flow(data, services, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        await client.answer("My dog is called Rex.", user="ann", conversation_id="c1")
        await wait_until(lambda: not Counter(WRITTEN) - costs)
        before = costs.copy()
        await client.answer(STATEMENT, user="ann", conversation_id="c1")
        await wait_until(lambda: not Counter(expected) - (costs - before))
    return dict(costs - before)


async def test_a_turn(tmp_path: Path, costs: Counter[str]) -> None:
    assert await cost_of_a_turn(tmp_path, costs, says, TURN) == TURN


@pytest.mark.parametrize(
    ("streaming", "asked"), [(True, "completion in pieces"), (False, "completion")]
)
async def test_only_for_who_reads_along_a_completion_comes_in_pieces(
    tmp_path: Path,
    costs: Counter[str],
    streaming: bool,
    asked: str,
) -> None:
    # There is no working memory to wait for.
    services: dict[str, Any] = {"completion": {}, "agent": {"tier-seconds": 0.3}}
    async with (
        scripted_model(script=says) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
    ):
        request = AgentRequest(user="ann", question="What?", memory="off", streaming=streaming)
        replies = [each async for each in flow.caller.stream(AGENT_REQUEST, request)]
    assert "".join(each.content for each in replies if each.message_type == "answer") == "Noted."
    assert [name for name in costs if name.startswith("completion")] == [asked]


async def test_a_turn_with_a_tool(tmp_path: Path, costs: Counter[str]) -> None:
    """The action is recorded before it is done, and then what came of it."""
    expected = TURN | {
        "working-memory.append": 3,
        "transaction working-memory": 4,
        "text to embed": 6,  # the tool's result is in the archive, too
        "completion": 2,
    }
    assert await cost_of_a_turn(tmp_path, costs, divides, expected) == expected
