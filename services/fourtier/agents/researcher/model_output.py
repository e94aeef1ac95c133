"""What a model is asked for in each role, as the schema that its answer must have."""

from pydantic import BaseModel, ConfigDict, Field


class _Written(BaseModel):
    """Written by a model: what it adds of its own is ignored, what is missing is an error."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class WrittenPlan(_Written):
    """What to search for."""

    info_needs: list[str] = Field(description="what has to be known to answer the question")
    keyword_collection: list[str] = Field(description="words that the entries have, a few for each")
    vector_queries: list[str] = Field(description="sentences that mean what the entries say")
    page_index: list[str] = Field(
        default=[], description="pages to read as a whole, such as M1; five at most, mostly none"
    )


class WrittenNote(_Written):
    """A fact that entries state."""

    content: str = Field(description="the fact, in a complete sentence")
    sources: list[str] = Field(description="the entries that state it, such as E1")


class WrittenNotes(_Written):
    """All facts that matter for the question."""

    notes: list[WrittenNote]


class WrittenCheck(_Written):
    """Whether the notes answer the question."""

    enough: bool


class WrittenRequests(_Written):
    """What to search for next."""

    new_requests: list[str] = Field(description="the most important one first")
