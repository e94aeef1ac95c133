"""What a model is asked to find, as the schema that its answer must have."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fourtier.schema.episodes import Result
from fourtier.schema.facts import FactKind


class _Written(BaseModel):
    """Written by a model: what it adds of its own is ignored, what is missing is an error."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class LearnedFact(_Written):
    """One statement worth storing."""

    content: str = Field(description="a complete sentence that is understood by itself")
    kind: FactKind = Field(
        description="semantic: how things are; procedural: how something is done; "
        "reflective: an insight about what works or matters"
    )
    subject: str = Field(description="who or what it is about")
    attribute: str = Field(
        description="what of the subject, in a word or two, such as home, employer, hobby; empty "
        "where nothing fits"
    )
    one_value: bool = Field(
        default=False,
        description="whether the subject has one such value at a time, so that a newer one ends "
        "the older: true for home or employer, false for hobby, pet or language",
    )
    quote: str = Field(description="the words that it comes from, copied exactly")
    replaces: list[int] = Field(
        default=[],
        description="numbers of the known statements that are no longer true because of this one",
    )


class ToolFact(LearnedFact):
    """One statement worth storing that a tool has found out."""

    step: int = Field(description="the number of the step whose result says it")


class LearnedFacts(_Written):
    """Facts, if there are any."""

    facts: list[LearnedFact]


class LearnedFromTools(LearnedFacts):
    """Facts of what was said, and of what the tools gave."""

    tool_facts: list[ToolFact] = []


class LearnedEpisode(_Written):
    """One piece of problem-solving."""

    goal: str = Field(description="what was to be achieved, in one sentence")
    steps: list[str] = Field(description="the key actions, one short sentence each")
    outcome: str = Field(description="what came of it")
    lessons: str = Field(description="what to do or to avoid next time; empty if nothing")
    result: Result

    # A validator, not a constraint: strict endpoints reject most constraints in a schema.
    @field_validator("goal")
    @classmethod
    def _says_something(cls, goal: str) -> str:
        if not goal.strip():
            raise ValueError("is empty")
        return goal


class LearnedFromTask(LearnedFromTools):
    """Facts, and the task as an episode."""

    episode: LearnedEpisode | None
