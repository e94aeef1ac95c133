"""What a model is asked to find, as the schema that its answer must have."""

from typing import Any

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
        description="what of the subject, if that has one value at a time, such as home, "
        "employer, budget; else empty"
    )
    quote: str = Field(description="the words that it comes from, copied exactly")


class LearnedFacts(_Written):
    """Facts, if there are any."""

    facts: list[LearnedFact]


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


class LearnedFromTask(LearnedFacts):
    """Facts, and the task as an episode."""

    episode: LearnedEpisode | None


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model as strict endpoints want it: all fields required, none besides."""
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])
    return schema
