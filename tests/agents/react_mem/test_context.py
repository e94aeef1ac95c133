"""The prompt: what stands in it, in which order, and what is left out when the budget is tight."""

from datetime import UTC, datetime

import pytest

from fourtier.agents.react_mem.context import Context, build_context
from fourtier.agents.react_mem.parameters import AgentParameters, Shares
from fourtier.agents.react_mem.tiers import Memories
from fourtier.models.text.prompts import read_prompt
from fourtier.models.text.tokens import count_tokens
from fourtier.schema.agent import AgentRequest, AgentStep
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.working_memory import Trace, WorkingMemoryItem

SYSTEM = read_prompt("fourtier.agents.react_mem", "system")
#: Long enough that the prompt without memories has the 200 tokens that a budget has at least.
QUESTION = " ".join(["Where shall we go this summer?"] * 12)
#: Tokens that every prompt of these tests has.
BASE = count_tokens(SYSTEM) + count_tokens(QUESTION)


def day(number: int) -> datetime:
    return datetime(2026, 5, number, tzinfo=UTC)


def fact(number: int, content: str = "") -> Fact:
    return Fact(
        id=f"f{number}",
        content=content or f"Fact number {number} is true",
        source="c1",
        timestamp=day(number),
        valid_from=day(number),
        speaker="ann" if number == 1 else "",
    )


def episode(number: int, goal: str = "") -> Episode:
    return Episode(
        id=f"e{number}",
        goal=goal or f"Book trip {number}",
        steps=("searched", "booked"),
        outcome="It was booked",
        lessons="Book early" if number == 1 else "",
        result="success",
        timestamp=day(number),
    )


def invocation(number: int, query: str = "", *, speaker: str = "") -> InvocationSummary:
    return InvocationSummary(
        id=f"i{number}",
        query=query or f"Question {number}",
        summary=f"Looked up {number}" if number == 1 else "",
        result=f"Answer {number}",
        speaker=speaker,
        timestamp=day(number),
    )


def facts_of(context: Context) -> list[str]:
    return [memory.id for memory in context.memories if memory.tier == "facts"]


def built(
    memories: Memories,
    *,
    budget: int = 10_000,
    shares: Shares | None = None,
    request: AgentRequest | None = None,
    additional: str = "",
) -> Context:
    """A context with so many tokens for memories and history."""
    return build_context(
        request or AgentRequest(question=QUESTION, user="ann"),
        memories,
        AgentParameters(
            context_tokens=BASE + budget,
            shares=shares or Shares(),
            additional_context=additional,
        ),
    )


def only(tier: str) -> Shares:
    none = {"facts": 0.0, "episodes": 0.0, "conversation": 0.0, "working_memory": 0.0}
    return Shares(**none | {tier: 1.0})


def tokens_of(context: Context) -> int:
    return sum(count_tokens(message.content) for message in context.prompt(Trace(), finish=False))


def test_the_whole_prompt_has_this_shape() -> None:
    request = AgentRequest(
        question=QUESTION,
        user="ann",
        state="planning a holiday",
        history=(
            AgentStep(
                thought="I should look at the map",
                action="map",
                arguments={"zoom": 3},
                observation="an island",
            ),
            AgentStep(thought="It is far"),
        ),
    )
    memories = Memories(
        facts=(fact(1), fact(2)),
        episodes=(episode(1), episode(2)),
        invocations=(invocation(1, speaker="Ann"), invocation(2)),
    )
    trace = Trace(
        condensed="I looked at hotels.",
        items=(
            item(3, "thought", "Compare prices"),
            item(3, "action", 'price({"of": "hotel"})', {"tool": "price"}),
            item(3, "observation", "90 dollars", {"tool": "price"}),
        ),
    )
    context = built(memories, request=request, additional=" Answer as a pirate. ")

    system = f"""{SYSTEM}

Answer as a pirate.

State: planning a holiday

What you know about the user, best match first:
- ann: Fact number 1 is true (2026-05-01)
- Fact number 2 is true (2026-05-02)

Earlier tasks like this one:
- Book trip 1 (2026-05-01, success): searched; booked. Outcome: It was booked. Lesson: Book early
- Book trip 2 (2026-05-02, success): searched; booked. Outcome: It was booked."""
    assert [
        (message.role, message.content, message.tool)
        for message in context.prompt(trace, finish=True)
    ] == [
        ("system", system, ""),
        ("user", "Ann: Question 1", ""),
        ("assistant", "Looked up 1\nAnswer 1", ""),
        ("user", "Question 2", ""),
        ("assistant", "Answer 2", ""),
        ("assistant", "I should look at the map\nmap({'zoom': 3})\nan island", ""),
        ("assistant", "It is far", ""),
        ("user", QUESTION, ""),
        ("assistant", "What I did so far:\nI looked at hotels.", ""),
        ("assistant", "Compare prices", ""),
        ("assistant", 'price({"of": "hotel"})', ""),
        ("tool", "90 dollars", "price"),
        ("system", read_prompt("fourtier.agents.react_mem", "finish"), ""),
    ]


def item(
    step: int, kind: str, content: str, metadata: dict[str, object] | None = None
) -> WorkingMemoryItem:
    return WorkingMemoryItem.model_validate(
        {
            "id": f"r/{step}/{kind}",
            "step": step,
            "type": kind,
            "content": content,
            "timestamp": day(1),
            "metadata": metadata or {},
        }
    )


def test_without_memories_there_are_the_instructions_and_the_question() -> None:
    prompt = built(Memories()).prompt(Trace(), finish=False)
    assert [(message.role, message.content) for message in prompt] == [
        ("system", SYSTEM),
        ("user", QUESTION),
    ]


def test_the_reply_names_the_memories_that_stand_in_the_prompt() -> None:
    memories = Memories(
        facts=(fact(2), fact(1)),
        episodes=(episode(1),),
        invocations=(invocation(1), invocation(2)),
    )
    used = built(memories).memories
    assert [(each.tier, each.id, each.content, each.timestamp) for each in used] == [
        ("facts", "f2", "Fact number 2 is true", day(2)),
        ("facts", "f1", "Fact number 1 is true", day(1)),
        ("episodes", "e1", "Book trip 1", day(1)),
        ("conversation", "i2", "Question 2", day(2)),
        ("conversation", "i1", "Question 1", day(1)),
    ]


def test_of_the_facts_the_best_matches_are_taken() -> None:
    memories = Memories(facts=tuple(map(fact, range(1, 10))))
    line = count_tokens("- Fact number 2 is true (2026-05-02)")
    context = built(memories, budget=4 * line, shares=only("facts"))
    assert facts_of(context) == ["f1", "f2", "f3"]
    assert "Fact number 4" not in context.system


def test_of_the_episodes_the_best_matches_are_taken() -> None:
    memories = Memories(episodes=tuple(map(episode, range(1, 10))))
    cost = count_tokens(
        "- Book trip 2 (2026-05-02, success): searched; booked. Outcome: It was booked."
    )
    context = built(memories, budget=3 * cost, shares=only("episodes"))
    assert [each.id for each in context.memories] == ["e1", "e2"]


def test_of_the_conversation_the_newest_turns_are_taken_and_stand_oldest_first() -> None:
    memories = Memories(invocations=tuple(invocation(number) for number in range(2, 10)))
    cost = count_tokens("Question 2\n\nAnswer 2")
    context = built(memories, budget=3 * cost, shares=only("conversation"))
    assert [message.content for message in context.before] == [
        text for number in (7, 8, 9) for text in (f"Question {number}", f"Answer {number}")
    ]
    assert [each.id for each in context.memories] == ["i9", "i8", "i7"]


@pytest.mark.parametrize("words", [0, 50, 200, 400])
def test_the_history_is_taken_from_the_budget(words: int) -> None:
    history = (AgentStep(thought="word " * words),) if words else ()
    request = AgentRequest(question=QUESTION, user="ann", history=history)
    memories = Memories(
        facts=tuple(fact(number % 28 + 1) for number in range(100)),
        episodes=tuple(episode(number % 28 + 1) for number in range(100)),
        invocations=tuple(invocation(number % 28 + 1) for number in range(100)),
    )
    budget = 600
    context = built(memories, budget=budget, request=request)
    without = built(memories, budget=budget - count_tokens("word " * words))
    assert context.memories == without.memories
    # The titles of the sections and the line breaks are not in the budget.
    assert tokens_of(context) <= BASE + budget + 40


def test_a_history_beyond_the_budget_leaves_no_room_for_memories() -> None:
    request = AgentRequest(
        question=QUESTION, user="ann", history=(AgentStep(thought="word " * 1_000),)
    )
    memories = Memories(facts=(fact(1),), episodes=(episode(1),), invocations=(invocation(1),))
    context = built(memories, budget=500, request=request)
    assert context.memories == ()
    assert [message.role for message in context.prompt(Trace(), finish=False)] == [
        "system",
        "assistant",
        "user",
    ]


def test_the_state_and_the_additional_context_are_taken_from_the_budget() -> None:
    memories = Memories(facts=(fact(1),))
    room = count_tokens("- ann: Fact number 1 is true (2026-05-01)")
    assert facts_of(built(memories, budget=room, shares=only("facts"))) == ["f1"]
    request = AgentRequest(question=QUESTION, user="ann", state="at home")
    assert facts_of(built(memories, budget=room, shares=only("facts"), request=request)) == []
    assert facts_of(built(memories, budget=room, shares=only("facts"), additional="Hi")) == []


def test_what_one_tier_leaves_the_next_may_use() -> None:
    halves = Shares(facts=0.5, episodes=0.0, conversation=0.5)
    memories = Memories(invocations=tuple(invocation(number) for number in range(2, 30)))
    cost = count_tokens("Question 20\n\nAnswer 20")
    with_facts_share = built(memories, budget=10 * cost, shares=halves)
    without = built(
        memories, budget=10 * cost, shares=Shares(facts=0, episodes=0, conversation=0.5)
    )
    assert len(with_facts_share.memories) == 10
    assert len(without.memories) == 5


def test_a_tier_does_not_take_more_than_its_share() -> None:
    memories = Memories(
        facts=tuple(fact(number) for number in range(1, 29)), invocations=(invocation(2),)
    )
    context = built(memories, budget=200, shares=Shares(facts=0.5, episodes=0, conversation=0.5))
    taken = context.system.removeprefix(SYSTEM).split("\n")[3:]
    assert 0 < sum(map(count_tokens, taken)) <= 100
    assert context.memories[-1].id == "i2"
