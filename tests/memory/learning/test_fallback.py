"""A model that fails: it is asked again, waited for, and in the end the rules learn."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fourtier.memory.learning.fallback import ModelWithRules
from fourtier.memory.learning.learned import Learned
from fourtier.runtime.errors import CallFailedError, FourtierError, OverloadedError
from fourtier.schema.agent import INVOCATION_ENDED
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Error
from tests.memory.extraction.runs import run
from tests.memory.extraction.test_extraction_model import fact
from tests.support.flow import RunningFlow, running_flow
from tests.support.listening import Listener, listening
from tests.support.model import Fails, ModelRequest, Reply, ScriptedModel, Writes, scripted_model
from tests.support.reporting import reported
from tests.support.waiting import wait_until

SINGS = Writes({"facts": [fact("Ann is a singer.", quote="I sing.")]})
BAD = Writes({"facts": [{"content": "half of a fact"}]})


@asynccontextmanager
async def extracting(
    tmp_path: Path,
    *replies: Reply,
    script: Any = None,
    completion: dict[str, Any] | None = None,
    **parameters: Any,
) -> AsyncGenerator[tuple[RunningFlow, ScriptedModel, Listener[StoreFactRequest]]]:
    services = {
        "completion": {"attempts": 1} | (completion or {}),
        "extraction": {"candidates": 0} | parameters,
    }
    async with (
        scripted_model(*replies, script=script) as model,
        running_flow(tmp_path, services, settings=model.settings) as flow,
        listening(flow.bus, STORE_FACT.topic) as facts,
    ):
        yield flow, model, facts


async def test_a_model_is_told_what_is_wrong_with_its_answer(tmp_path: Path) -> None:
    async with extracting(tmp_path, BAD, "No JSON at all", SINGS) as (flow, model, facts):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing."))

        assert (await facts.next()).content == "Ann is a singer."
    assert len(model.requests) == 3
    _, again, once_more = model.requests
    assert "facts.0.kind" in again.last
    assert "half of a fact" in again.text
    assert "I sing." in again.text
    assert "not JSON" in once_more.last


async def test_answers_that_stay_bad_leave_the_message_to_the_rules(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: ModelRequest) -> Reply:
        return SINGS if "I sing." in request.text else BAD

    with reported() as report:
        async with extracting(tmp_path, script=script) as (flow, model, facts):
            await flow.caller.publish(INVOCATION_ENDED, run("I live in Oslo."))
            by_rule = await facts.next()
            asked = len(model.requests)
            await flow.caller.publish(INVOCATION_ENDED, run("I sing.", run_id="r2"))
            by_model = await facts.next()

        (counted,) = report.points("fourtier.learning.fallbacks")
    assert (by_rule.content, by_rule.quote) == ("I live in Oslo.", "I live in Oslo.")
    assert by_model.content == "Ann is a singer."
    assert asked == 3
    assert counted.value == 1
    assert counted.attributes == {
        "messaging.consumer.group.name": "extraction",
        "error.type": "bad-output",
    }
    assert "extraction learns by rule, for the model failed" in caplog.text
    assert "facts.0.kind" in caplog.text


async def test_an_endpoint_that_rejects_is_not_asked_again_for_the_message(tmp_path: Path) -> None:
    async with extracting(tmp_path, Fails(401, "no such key"), SINGS) as (flow, model, facts):
        await flow.caller.publish(INVOCATION_ENDED, run("I live in Oslo."))
        assert (await facts.next()).content == "I live in Oslo."
        assert len(model.requests) == 1
        await flow.caller.publish(INVOCATION_ENDED, run("I sing.", run_id="r2"))

        assert (await facts.next()).content == "Ann is a singer."


async def test_without_tokens_left_today_the_rules_learn(tmp_path: Path) -> None:
    spent = {"tokens-per-day": 0}
    async with extracting(tmp_path, completion=spent) as (flow, model, facts):
        await flow.caller.publish(INVOCATION_ENDED, run("I live in Oslo."))

        assert (await facts.next()).content == "I live in Oslo."
    assert model.requests == []


async def test_a_model_that_is_unavailable_is_waited_for(tmp_path: Path) -> None:
    async with extracting(tmp_path, Fails(503), Fails(503), SINGS) as (flow, model, facts):
        await flow.caller.publish(INVOCATION_ENDED, run("I sing."))

        assert (await facts.next()).content == "Ann is a singer."
    assert len(model.requests) == 3


async def test_a_model_that_stays_unavailable_is_not(tmp_path: Path) -> None:
    def script(_: ModelRequest) -> Reply:
        return Fails(503)

    soon = {"model-outage-seconds": 0}
    async with extracting(tmp_path, script=script, **soon) as (flow, _, facts):
        await flow.caller.publish(INVOCATION_ENDED, run("I live in Oslo."))

        assert (await facts.next()).content == "I live in Oslo."


def failure(error_type: str, *, temporary: bool) -> CallFailedError:
    return CallFailedError("complete", Error(type=error_type, message="x", temporary=temporary))


UNREACHABLE = failure("model-unreachable", temporary=True)


class Scripted:
    """A method that fails with what it is told, if anything."""

    def __init__(self, failure: FourtierError | None = None) -> None:
        self.failure = failure
        self.learned = 0

    async def learn(self, experience: str) -> Learned:
        if self.failure is not None:
            raise self.failure
        self.learned += 1
        return Learned((StoreFactRequest(user="ann", content=experience),))


def method(model: Scripted, rules: Scripted, outage_seconds: float) -> ModelWithRules[str]:
    return ModelWithRules(
        "extraction", model=model, rules=rules, seconds=60, outage_seconds=outage_seconds
    )


async def test_an_outage_is_over_when_the_model_answers() -> None:
    model, rules = Scripted(UNREACHABLE), Scripted()
    learning = method(model, rules, 0.2)
    with pytest.raises(CallFailedError):
        await learning.learn("at first")

    async def by_rule() -> bool:
        try:
            await learning.learn("later")
        except CallFailedError:
            return False
        return True

    await wait_until(by_rule)
    assert rules.learned == 1
    await learning.learn("the next is not waited with")
    assert rules.learned == 2

    model.failure = None
    await learning.learn("by the model")
    assert (model.learned, rules.learned) == (1, 2)

    model.failure = UNREACHABLE
    with pytest.raises(CallFailedError):
        await learning.learn("another outage")


async def test_too_many_completions_at_a_time_are_no_failure_of_the_model() -> None:
    for error in (failure("overloaded", temporary=True), failure("overloaded", temporary=False)):
        rules = Scripted()
        with pytest.raises(CallFailedError):
            await method(Scripted(error), rules, 0).learn("x")
        assert rules.learned == 0
    assert OverloadedError.type == "overloaded"


async def test_a_model_that_takes_too_long_is_unavailable() -> None:
    class Hanging(Scripted):
        async def learn(self, experience: str) -> Learned:
            await wait_until(never)
            return await super().learn(experience)

    async def never() -> bool:
        return False

    rules = Scripted()
    slow = ModelWithRules("x", model=Hanging(), rules=rules, seconds=0.05, outage_seconds=0)
    assert (await slow.learn("said")).facts[0].content == "said"
    assert rules.learned == 1


async def test_an_error_of_our_own_is_not_hidden_by_the_rules() -> None:
    class Broken(Scripted):
        async def learn(self, experience: str) -> Learned:
            raise KeyError(experience)

    with pytest.raises(KeyError):
        await method(Broken(), Scripted(), 0).learn("x")
