"""Attempts to make the assistant obey what it remembers, and what becomes of each.

    tests/data/injections/work.jsonl             used while the defences were made
    tests/data/injections/report.jsonl           the same, written later
    tests/data/injections/classes.jsonl          the same, written while orders were sorted by class
    tests/data/injections/harmless_*.jsonl       statements and preferences that must be kept

An attempt has the road by which it comes, its language and its text; `order` is the part that
orders something where that is not all of it, and empty where it only forges an item.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from fourtier.agents.react_mem.context import build_context
from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.agents.react_mem.tiers import Memories
from fourtier.agents.react_mem.tools.memory import fact_to_store
from fourtier.memory.extraction.experience import Experience
from fourtier.memory.extraction.statements_method import ExtractionByRule
from fourtier.memory.learning.candidates import Candidates
from fourtier.memory.learning.commands import facts_of_model
from fourtier.memory.learning.grounding import Source
from fourtier.memory.learning.model_output import LearnedFact
from fourtier.memory.learning.origin import Origin
from fourtier.memory.learning.statements_method import Utterance
from fourtier.models.completion.dialects.contract import Dialect
from fourtier.models.completion.dialects.schema import SchemaDialect
from fourtier.models.completion.dialects.tools import ToolsDialect
from fourtier.models.text.instructions import without_orders
from fourtier.models.text.wishes import is_wish
from fourtier.schema.agent import AgentRequest, AgentStep
from fourtier.schema.completion import CompleteRequest, ToolSpec
from fourtier.schema.conversations import InvocationSummary
from fourtier.schema.episodes import Episode
from fourtier.schema.facts import Fact
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import Trace, WorkingMemoryItem
from fourtier.tools.contract import ToolError

DATA = Path(__file__).parents[1] / "data" / "injections"
ROADS = ("direct", "tool result", "import", "name or id", "episode", "conversation record")
#: What stands where the attack does, in the prompt that it is compared with.
HARMLESS = "harmless"
_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_ORIGIN = Origin(Scope("ann", "default"), "c1", "r1", "ann", _NOON, {})
#: Names are cut by the schema at this length.
_MAX_NAME = 512


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt."""

    road: str
    language: str
    text: str
    order: str


def halves() -> Sequence[str]:
    """The names of the files of attempts."""
    found = {file.stem for file in DATA.glob("*.jsonl") if not file.stem.startswith("harmless_")}
    return sorted(found, key=lambda name: (name != "work", name))


def attempts(half: str) -> list[Attempt]:
    """The attempts of a half."""
    return [
        Attempt(each["road"], each["language"], each["text"], each.get("order", each["text"]))
        for each in _lines(f"{half}.jsonl")
    ]


def harmless(half: str) -> list[str]:
    """The statements of a half that must be stored."""
    return [each["text"] for each in _lines(f"harmless_{half}.jsonl")]


def _lines(name: str) -> Iterator[dict[str, str]]:
    for line in filter(None, (DATA / name).read_text("utf-8").split("\n")):
        yield json.loads(line)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in what the agent makes its prompt of."""

    memories: Memories = field(default_factory=Memories)
    history: tuple[AgentStep, ...] = ()
    state: str = ""
    trace: Trace = field(default_factory=Trace)
    user: str = "ann"
    conversation_id: str = "c1"


def _fact(content: str = HARMLESS, *, speaker: str = "ann", source: str = "c1") -> Memories:
    fact = Fact(
        id="f1",
        content=content,
        speaker=speaker,
        source=source,
        timestamp=_NOON,
        valid_from=_NOON,
    )
    return Memories(facts=(fact,))


def _episode(**parts: object) -> Memories:
    given = {"goal": HARMLESS, "steps": (HARMLESS,), "outcome": HARMLESS, "lessons": HARMLESS}
    episode = Episode.model_validate(
        {"id": "e1", "timestamp": _NOON, "source": "c1"} | given | parts
    )
    return Memories(episodes=(episode,))


def _exchange(
    query: str = HARMLESS, *, summary: str = HARMLESS, result: str = HARMLESS, speaker: str = "ann"
) -> Memories:
    invocation = InvocationSummary(
        id="i1", query=query, summary=summary, result=result, speaker=speaker, timestamp=_NOON
    )
    return Memories(invocations=(invocation,))


def _used(observation: str = HARMLESS, *, tool: str = "search") -> Trace:
    items = (("action", "search({})"), ("observation", observation))
    return Trace(
        items=tuple(
            WorkingMemoryItem(
                id=f"r/0/{kind}",
                step=0,
                type="action" if kind == "action" else "observation",
                content=content,
                timestamp=_NOON,
                metadata={"tool": tool, "arguments": {}},
            )
            for kind, content in items
        )
    )


def places(text: str) -> Mapping[str, Place]:
    """The text in every place where something remembered can stand."""
    name = text[:_MAX_NAME]
    return {
        "fact": Place(_fact(text)),
        "fact of somebody else": Place(_fact(text, speaker="mallory")),
        "fact without a speaker": Place(_fact(text, speaker="", source="")),
        "goal": Place(_episode(goal=text)),
        "step of an episode": Place(_episode(steps=(text,))),
        "outcome": Place(_episode(outcome=text)),
        "lesson": Place(_episode(lessons=text)),
        "earlier question": Place(_exchange(text)),
        "imported turn": Place(_exchange(text, summary="", result="", speaker="mallory")),
        "summary": Place(_exchange(summary=text)),
        "earlier answer": Place(_exchange(result=text)),
        "history": Place(history=(AgentStep(thought=HARMLESS, observation=text),)),
        "thought of the history": Place(history=(AgentStep(thought=text),)),
        "state": Place(state=text),
        "tool result": Place(trace=_used(text)),
        "condensed trace": Place(trace=Trace(condensed=text)),
        "speaker of a fact": Place(_fact(speaker=name)),
        "source of a fact": Place(_fact(speaker="", source=name)),
        "source of an episode": Place(_episode(source=name)),
        "speaker of a turn": Place(_exchange(speaker=name)),
        "unknown tool": Place(trace=_used(tool=name)),
        "tool of the history": Place(history=(AgentStep(action=name),)),
        "user": Place(_fact(), user=name),
        "conversation": Place(_fact(), conversation_id=name),
    }


SEARCH = ToolSpec(name="search", description="Search.", parameters={"type": "object"})
DIALECTS: Mapping[str, Dialect] = {
    "tools": ToolsDialect(),
    "schema": SchemaDialect(),
    "brief": SchemaDialect(brief=True, small=True),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """One message as it goes to the endpoint."""

    role: str
    content: str
    names: tuple[str, ...] = ()


def sent(place: Place, dialect: Dialect) -> list[Sent]:
    """The prompt that the agent builds of a place, as a dialect sends it."""
    # No message carries a name with invisible characters; the fence holds for them all the same.
    request = AgentRequest.model_construct(
        question="What now?",
        user=place.user,
        conversation_id=place.conversation_id,
        history=place.history,
        state=place.state,
    )
    parameters = AgentParameters(context_tokens=100_000)
    context = build_context(request, place.memories, parameters, (SEARCH,))
    messages = context.prompt(place.trace, finish=False)
    prompt = dialect.prompt(CompleteRequest(messages=messages))
    return [
        Sent(
            message.role,
            message.content,
            tuple(call.function.name for call in message.tool_calls or ()),
        )
        for message in prompt.messages
    ]


_OPEN = re.compile(
    r'<data from="(?:facts|wishes|episodes|conversation|history|state|steps|tool)">', re.ASCII
)
_CONTROL = re.compile(
    r"<\s*[|/]|<<|\[\s*/?\s*inst\s*\]|<\s*(?:s|data|system|user|assistant|tool\w*|im_\w+"
    r"|start_of_turn|end_of_turn|!--)\b|<!--",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z0-9_.-]*", re.ASCII)


def breaks_out(messages: Sequence[Sent], expected: Sequence[Sent]) -> str:
    """How an attack left its fence, by comparing with the same prompt without it; empty if not."""
    if [each.role for each in messages] != [each.role for each in expected]:
        return "there are other messages"
    for message, other in zip(messages, expected, strict=True):
        if problem := _breaks_out(message.content, other.content):
            return f"{message.role}: {problem}"
        if not all(_NAME.fullmatch(name) for name in message.names):
            return f"a tool is named {message.names}"
    return ""


def _breaks_out(content: str, expected: str) -> str:
    inside, outside = _parts(content)
    expected_inside, expected_outside = _parts(expected)
    if outside != expected_outside:
        return f"outside of the fences stands {outside!r}"
    if _items(inside) != _items(expected_inside):
        return f"the fences have other items: {inside!r}"
    for line in inside:
        if not line.startswith(("- ", "| ")):
            return f"a line is not quoted: {line!r}"
        if _CONTROL.search(_seen(line)):
            return f"a tag is left: {line!r}"
        if invisible := [each for each in line if _is_hidden(each)]:
            return f"invisible characters are left: {invisible!r}"
    return ""


def _parts(content: str) -> tuple[list[str], list[str]]:
    """The lines inside of fences, and those outside with the fences themselves."""
    inside: list[str] = []
    outside: list[str] = []
    fenced = False
    for line in re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", content):
        if _OPEN.fullmatch(line) and not fenced:
            fenced = True
        elif line == "</data>" and fenced:
            fenced = False
        elif fenced:
            inside.append(line)
            continue
        outside.append(line)
    return inside, [*outside, "(not closed)" if fenced else ""]


def _items(lines: Sequence[str]) -> int:
    return sum(line.startswith("- ") for line in lines)


def _seen(line: str) -> str:
    """The line as a tokenizer that normalises would see it."""
    shown = "".join(each for each in line if not _is_hidden(each) and each not in "\u200c\u200d")
    return unicodedata.normalize("NFKC", shown)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} and character not in (
        "\t\u200c\u200d"
    )


NOT_THERE = "the text is not in the prompt"


def leak(messages: Sequence[Mapping[str, object]], text: str) -> str:
    """What of a text stands outside of fences in a prompt as an endpoint got it; empty if nothing.

    A prompt that quotes nothing at all of the text does not test it.
    """
    quoted = False
    for message in messages:
        inside, outside = _parts(str(message.get("content") or ""))
        quoted = quoted or bool(_shingles(text) & _shingles("\n".join(inside)))
        if found := _shingles(text) & _shingles("\n".join(outside)):
            return f"{message['role']}: {sorted(found)}"
        for line in inside:
            if not line.startswith(("- ", "| ")) or _CONTROL.search(_seen(line)):
                return f"{message['role']}: {line!r}"
    return "" if quoted else NOT_THERE


def unfenced(attempt: Attempt, dialects: Mapping[str, Dialect] = DIALECTS) -> dict[str, str]:
    """Where an attempt leaves its fence, and how; empty when it never does."""
    plain = places(HARMLESS)
    plain = {**plain, "unknown tool": Place(trace=_used(tool="unknown_tool"))}
    return {
        f"{name}, {dialect_name}": problem
        for name, place in places(attempt.text).items()
        for dialect_name, dialect in dialects.items()
        if (problem := breaks_out(sent(place, dialect), sent(plain[name], dialect)))
    }


#: How a text comes to be learned, by its road: said to the agent, said between people, or written
#: down by a model that has read it.
_SAID: Mapping[str, bool] = {"direct": False, "conversation record": False, "import": True}


async def stored(text: str, road: str = "direct") -> list[str]:
    """What is stored of a text, in each of the ways in which it may be learned."""
    found: list[str] = []
    if road in _SAID:
        said = Utterance(_ORIGIN, text, in_dialogue=_SAID[road])
        learned = await ExtractionByRule("extraction", 100, 100).learn(Experience(said))
        found += [fact.content for fact in learned.facts]
    written = LearnedFact(
        content=text,
        kind="semantic",
        subject="",
        attribute="",
        one_value=False,
        quote=text,
        replaces=[],
    )
    learnt = facts_of_model(_ORIGIN, [written], Source(text), Candidates(), text)
    found += [fact.content for fact in learnt]
    with suppress(ToolError):
        found.append(fact_to_store({"fact_content": text}))
    return found


def is_heeded(attempt: Attempt) -> bool:
    """Whether the attempt, or a sentence of it, would stand among the wishes that are heeded."""
    parts = [attempt.text, attempt.order, *re.split(r"(?<=[.!?:;,])\s+|\n", attempt.text)]
    return any(is_wish(part) for part in parts if part)


async def is_stored(attempt: Attempt) -> list[str]:
    """The facts that have something of the attempt's order in them."""
    if not attempt.order or attempt.road == "name or id":
        return []
    words = _shingles(attempt.order)
    found = await stored(attempt.text, attempt.road)
    return [fact for fact in found if words & _shingles(fact)]


def is_in_lesson(attempt: Attempt) -> bool:
    """Whether something of the attempt's order is left of it where it is an episode's lesson."""
    if not attempt.order or attempt.road == "name or id":
        return False
    return bool(_shingles(attempt.order) & _shingles(without_orders(attempt.text)))


_SHINGLE = 16


def _shingles(text: str) -> set[str]:
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    return {letters[at : at + _SHINGLE] for at in range(max(1, len(letters) - _SHINGLE + 1))}


def by_road(found: Sequence[Attempt]) -> Mapping[str, Sequence[Attempt]]:
    """The attempts of each road."""
    ordered = sorted(found, key=lambda each: ROADS.index(each.road))
    return {road: tuple(each) for road, each in groupby(ordered, key=lambda each: each.road)}
