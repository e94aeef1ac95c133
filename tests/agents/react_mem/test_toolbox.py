"""Tools: what they answer, and that nothing they do breaks a run."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from fourtier.agents.react_mem.observation import Observation
from fourtier.agents.react_mem.tools.builtin import calculator, clock
from fourtier.agents.react_mem.tools.toolbox import Toolbox, build_toolbox
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.errors import StartupError
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.agent import MemoryMode
from fourtier.schema.completion import MALFORMED_ARGUMENTS
from fourtier.schema.message import Metadata, Scope
from fourtier.tools import tool
from fourtier.tools.contract import RunContext, ToolError
from fourtier.tools.functions import FunctionTool

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
CONTEXT = RunContext("run", Scope("ann", "default"), "c1", Caller(MemoryBus()), NOW)


async def use(
    function: Callable[..., Any],
    arguments: Metadata,
    *,
    seconds: float = 60,
    limit: int = 1_000,
) -> str:
    return (await observed(function, arguments, seconds=seconds, limit=limit)).text


async def observed(
    function: Callable[..., Any], arguments: Metadata, *, seconds: float = 60, limit: int = 1_000
) -> Observation:
    box = Toolbox([FunctionTool(function)], seconds=seconds, limit=limit)
    offered = box.offered((), "read-write")
    return await box.use(offered[0].name, arguments, offered, CONTEXT)


async def test_calculator_works_out_arithmetic_and_nothing_else() -> None:
    assert await use(calculator, {"expression": "12 * (3.5 + 1)"}) == "54.0"
    assert await use(calculator, {"expression": "2^10"}) == "1024"
    assert "division by zero" in await use(calculator, {"expression": "1/0"})
    assert "cannot be worked out" in await use(
        calculator, {"expression": "__import__('os').getcwd()"}
    )


async def test_clock_knows_time_zones() -> None:
    assert (await use(clock, {})).endswith("UTC")
    assert "is not a time zone" in await use(clock, {"time_zone": "Mars/Olympus"})


async def test_a_function_gets_the_context_of_its_run_and_the_model_does_not_see_it() -> None:
    def whose(thing: str, context: RunContext) -> str:
        """Say whose it is."""
        return f"{thing} of {context.scope.user} in {context.run_id}"

    assert set(FunctionTool(whose).spec.parameters["properties"]) == {"thing"}
    assert await use(whose, {"thing": "the budget"}) == "the budget of ann in run"
    assert "context: Extra inputs" in await use(whose, {"thing": "x", "context": "y"})


async def test_wrong_arguments_are_named() -> None:
    def add(left: int, right: int = 1) -> int:
        """Add."""
        return left + right

    assert await use(add, {"left": 2}) == "3"
    assert "left: Field required" in await use(add, {"right": 2})
    assert "left: Input should be a valid integer" in await use(add, {"left": "two"})
    assert "more: Extra inputs are not permitted" in await use(add, {"left": 1, "more": 1})


async def test_a_tool_that_raises_or_hangs_becomes_an_observation() -> None:
    def broken() -> str:
        raise KeyError("lost")

    async def hanging() -> str:
        await asyncio.Event().wait()
        return "never"

    assert await observed(broken, {}) == Observation(
        "The tool broken failed: KeyError: 'lost'", "failed"
    )
    assert await observed(hanging, {}, seconds=0.2) == Observation(
        "The tool hanging did not finish within 0.2 seconds.", "failed"
    )


async def test_the_status_says_what_the_text_may_not() -> None:
    def say() -> str:
        """Say something that sounds like a failure."""
        return "The tool say failed: it did not"

    def deny() -> str:
        raise ToolError("not today")

    assert (await observed(say, {})).status == "ok"
    assert (await observed(deny, {})).status == "failed"


async def test_results_are_json_and_bounded() -> None:
    def table() -> dict[str, list[int]]:
        """Give a table."""
        return {"numbers": [1, 2]}

    def long() -> str:
        """Say much."""
        return "x" * 500

    assert await use(table, {}) == '{"numbers":[1,2]}'
    assert await use(long, {}, limit=100) == "x" * 100 + " [cut: 500 characters in all]"


async def test_a_tool_that_does_not_exist_is_answered_with_those_that_do() -> None:
    box = build_toolbox((), seconds=1, limit=1_000)
    answer = await box.use("fly", {}, box.offered((), "read-write"), CONTEXT)
    assert answer.text.startswith("There is no tool 'fly'. There are: retrieve_facts,")
    assert answer.status == "rejected"


def test_groups_and_memory_decide_what_is_offered() -> None:
    @tool(idempotent=False, groups=["billing"])
    def charge(cents: int) -> str:
        """Charge a card."""
        return f"charged {cents}"

    box = Toolbox(
        [*build_toolbox((), seconds=1, limit=9)._tools.values(), FunctionTool(charge)],
        seconds=1,
        limit=9,
    )

    def names(groups: tuple[str, ...], memory: MemoryMode) -> set[str]:
        return {spec.name for spec in box.offered(groups, memory)}

    assert names(("billing",), "read-write") == {"charge"}
    assert names((), "off") == {"calculator", "clock", "charge"}
    assert names(("memory",), "read-write") == {
        "retrieve_facts",
        "recall_episodes",
        "research_memory",
        "store_fact",
        "forget",
    }
    assert names(("memory",), "read-only") == {
        "retrieve_facts",
        "recall_episodes",
        "research_memory",
    }
    assert not box.is_idempotent("charge")
    assert box.is_idempotent("calculator")


def test_each_memory_tool_is_switchable_by_itself() -> None:
    box = build_toolbox((), seconds=1, limit=9, memory=("recall_episodes",))
    offered = {spec.name for spec in box.offered((), "read-write")}
    assert offered == {"recall_episodes", "calculator", "clock"}


def test_two_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(StartupError, match="more than one tool is named clock"):
        Toolbox([FunctionTool(clock), FunctionTool(clock)], seconds=1, limit=1)


def test_a_function_without_annotations_is_an_error() -> None:
    def vague(thing):
        return thing

    with pytest.raises(TypeError, match="needs an annotation"):
        FunctionTool(vague)


async def test_with_malformed_arguments_no_tool_is_run_and_the_observation_quotes_them() -> None:
    ran: list[str] = []

    def order() -> str:
        """Order."""
        ran.append("ran")
        return "ordered"

    observation = await observed(order, {MALFORMED_ARGUMENTS: '{"article": '})
    assert observation == Observation(
        'The arguments must be a JSON object of at most 24000 characters, not: {"article": ',
        "rejected",
    )
    assert ran == []
