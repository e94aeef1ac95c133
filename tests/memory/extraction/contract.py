"""What extraction must do, whichever way it learns: one class of tests for rules and model."""

from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from fourtier.schema.agent import INVOCATION_ENDED, AgentStep, InvocationEnded
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.facts import LIST_FACTS, STORE_FACT, ListFactsRequest, StoreFactRequest
from tests.memory.extraction.runs import START, run
from tests.support.flow import RunningFlow
from tests.support.listening import Listener, listening
from tests.support.waiting import wait_until

#: What is said in these tests; a model's script knows these sentences too.
HOME = "I live in Oslo."
DOG = "My dog is called Rex."
WORK = "I work at the harbour."
LAST = "I am the last one."
#: The times of statements in one message differ by less.
MESSAGE = timedelta(milliseconds=1)
PAID = "The invoice 4711 was paid on Monday."


@dataclass
class Extraction:
    """A running extraction, and the facts that it sends."""

    flow: RunningFlow
    facts: Listener[StoreFactRequest]

    async def tell(self, *messages: InvocationEnded | DialogueTurn) -> None:
        for message in messages:
            if isinstance(message, InvocationEnded):
                await self.flow.caller.publish(INVOCATION_ENDED, message)
            else:
                await self.flow.caller.publish(DIALOGUE_RECORDED, message)

    async def handled(
        self, last: InvocationEnded | DialogueTurn | None = None
    ) -> list[StoreFactRequest]:
        """All facts of what was told so far: they are there, once those of `last` are.

        Runs and turns have a topic each, with an order of its own. By default `last` is a run.
        """
        await self.tell(last or run(LAST, run_id="last"))
        while (await self.facts.next()).quote != LAST:
            pass
        return self.facts.received[:-1]


def step(observation: str, **other: Any) -> AgentStep:
    fields = {"action": "pay", "arguments": {"invoice": 4711}, "status": "ok"} | other
    return AgentStep.model_validate(fields | {"observation": observation})


def turn(content: str, *, speaker: str = "Mia", turn_id: str = "D1:3") -> DialogueTurn:
    return DialogueTurn(
        user="ann",
        conversation_id="c7",
        speaker=speaker,
        content=content,
        timestamp=START + timedelta(days=1),
        turn_id=turn_id,
    )


class ExtractionContract:
    """Its subclasses say how the flow is made."""

    @abstractmethod
    def flow(
        self, path: Path, services: dict[str, Any], parameters: dict[str, Any]
    ) -> AbstractAsyncContextManager[RunningFlow]:
        """A flow with these services, and extraction with these parameters."""

    @asynccontextmanager
    async def extraction(
        self, path: Path, *services: str, **parameters: Any
    ) -> AsyncGenerator[Extraction]:
        others: dict[str, Any] = {name: {} for name in services}
        async with (
            self.flow(path, others, parameters) as flow,
            listening(flow.bus, STORE_FACT.topic) as facts,
        ):
            yield Extraction(flow, facts)

    async def test_what_was_said_becomes_a_fact_with_its_origin(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(f"Hello! {HOME} What is new there?"))
            (fact,) = await extraction.handled()

        assert "Oslo" in fact.content
        assert fact.quote == HOME
        assert (fact.user, fact.collection, fact.speaker) == ("ann", "default", "ann")
        assert (fact.source, fact.invocation_id) == ("c1", "r1")
        assert START <= fact.timestamp < START + MESSAGE
        assert fact.metadata == {"run_id": "r1"}
        assert extraction.facts.ids[0] == "r1/fact/0"

    async def test_a_turn_of_dialogue_is_its_speakers(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(turn(HOME))
            (fact,) = await extraction.handled(turn(LAST, turn_id="D1:4"))

        assert (fact.user, fact.speaker, fact.source) == ("ann", "Mia", "c7")
        assert START + timedelta(days=1) <= fact.timestamp < START + timedelta(days=1) + MESSAGE
        assert fact.metadata == {"turn_id": "D1:3"}
        assert fact.quote == HOME

    async def test_statements_keep_their_order(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(f"{DOG} {HOME} {WORK}"))
            facts = await extraction.handled()

        assert [fact.quote for fact in facts] == [DOG, HOME, WORK]
        first, second, third = (fact.timestamp for fact in facts)
        assert START <= first < second < third < START + MESSAGE
        assert extraction.facts.ids[:3] == ["r1/fact/0", "r1/fact/1", "r1/fact/2"]

    async def test_a_question_is_no_fact_and_neither_is_its_answer(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run("Where do I live?", answer="You live in Oslo."))
            await extraction.tell(run("Where do I live?", answer="I do not know.", run_id="r2"))

            assert await extraction.handled() == []

    async def test_what_only_the_assistant_said_is_no_fact(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(HOME, answer="You live in Oslo with your dog Bello."))
            facts = await extraction.handled()

        assert [fact.quote for fact in facts] == [HOME]
        assert not any("Bello" in fact.content for fact in facts)

    async def test_credentials_are_left_out(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(f"My password is hunter2. {HOME}"))
            facts = await extraction.handled()

        assert [fact.quote for fact in facts] == [HOME]
        assert "hunter2" not in "".join(fact.model_dump_json() for fact in facts)

    async def test_a_repetition_gives_the_same_commands_and_one_fact(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path, "embeddings", "facts") as extraction:
            await extraction.tell(run(HOME), run(DOG, run_id="r2"), run(HOME), run(HOME))
            facts = await extraction.handled()
            ids = extraction.facts.ids[:-1]

            async def stored() -> bool:
                listed = await extraction.flow.caller.call(LIST_FACTS, ListFactsRequest(user="ann"))
                return {fact.quote for fact in listed.facts} == {HOME, DOG, LAST} and (
                    listed.total == 3
                )

            await wait_until(stored)

        of_home = [fact for fact in facts if fact.quote == HOME]
        assert len(of_home) == 3
        assert all(fact == of_home[0] for fact in of_home)
        assert sorted(ids) == ["r1/fact/0"] * 3 + ["r2/fact/0"]

    async def test_a_message_gives_at_most_max_statements(self, tmp_path: Path) -> None:
        limits = {"max-statements": 2}
        async with self.extraction(tmp_path, **limits) as extraction:
            await extraction.tell(run(f"{DOG} {HOME} {WORK}"))
            facts = await extraction.handled()

        assert [fact.quote for fact in facts] == [DOG, HOME]

    async def test_facts_that_are_not_wanted_are_not_sent(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(HOME, steps=[step(PAID)], extract_facts=False))

            assert await extraction.handled() == []

    async def test_two_users_stay_two(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(HOME), run(HOME, user="bob", run_id="r2"))
            for _ in range(2):  # two users are not served in turns: either may be the first
                await extraction.facts.next()
            facts = await extraction.handled()

        said = sorted((fact.user, fact.speaker) for fact in facts)
        assert said == [("ann", "ann"), ("bob", "bob")]

    async def test_what_a_tool_found_is_the_tools(self, tmp_path: Path) -> None:
        looked = step("nothing new", action="look", status="ok")
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run(f"Pay it! {HOME}", steps=[looked, step(PAID)]))
            home, paid = await extraction.handled()

        assert (home.speaker, home.metadata) == ("ann", {"run_id": "r1"})
        assert "4711" in paid.content
        assert paid.quote == PAID
        assert paid.speaker == "tool:pay"
        assert paid.metadata.items() >= {"run_id": "r1", "tool": "pay", "step": 2}.items()
        assert (paid.source, paid.invocation_id) == ("c1", "r1")
        assert paid.timestamp == START + timedelta(microseconds=2)  # the second step

    async def test_a_tool_that_failed_or_is_memorys_own_finds_nothing(self, tmp_path: Path) -> None:
        steps = [
            step(PAID, status="failed"),
            step(PAID, status="rejected"),
            step(PAID, status="interrupted"),
            step(PAID, action="retrieve_facts"),
        ]
        async with self.extraction(tmp_path) as extraction:
            await extraction.tell(run("Pay it!", steps=steps))

            assert await extraction.handled() == []

    async def test_facts_of_tools_can_be_switched_off(self, tmp_path: Path) -> None:
        async with self.extraction(tmp_path, **{"tool-facts": False}) as extraction:
            await extraction.tell(run(HOME, steps=[step(PAID), step(PAID)]))

            assert [fact.quote for fact in await extraction.handled()] == [HOME]
