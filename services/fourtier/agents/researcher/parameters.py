"""What a flow can set for research."""

from pydantic import Field

from fourtier.models.completion.named_model import names_endpoint
from fourtier.models.text.prompts import Prompt
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.settings import Settings
from fourtier.schema.researcher import Method, MethodName, ResearchRequest, Role

#: Of one completion at most: whoever waits for a step of a research waits for 60 seconds.
_MAX_SECONDS = 50


class ResearcherParameters(Parameters):
    """How a research goes, how long it may take, and how many go on at once."""

    method: MethodName = Field(
        default="auto",
        description="where the request does not say: `llm` asks the flow's model, `rule` none; "
        "`auto` asks the model where the environment names one",
    )
    research_seconds: float = Field(
        default=20,
        gt=0,
        description="after so long no further round begins, and no model is waited for",
    )
    max_concurrent_researches: int = Field(default=16, ge=1)
    max_completions: int = Field(
        default=12, ge=1, description="of one research, those that correct a bad answer included"
    )
    completion_seconds: float = Field(
        default=15,
        gt=0,
        le=_MAX_SECONDS,
        description="for which the model is waited for in one role; then it goes by rule",
    )
    prompt_tokens: int = Field(
        default=6_000, ge=500, description="what the model is shown beside its instructions"
    )
    working_memory_seconds: float = Field(
        default=2,
        gt=0,
        description="for which working memory is waited for at each step of a research by a model; "
        "then no checkpoint is stored, and it begins anew when it is interrupted",
    )
    memo_tokens: int = Field(
        default=6_000,
        ge=0,
        description="of memos of the archive that the model is shown beside that when it plans: "
        "half of them those most similar to the question, half the newest; 0: none",
    )
    names_from_facts: int = Field(
        default=4,
        ge=0,
        le=20,
        description="names that facts mention together with those of the question and of its best "
        "entries, so many of which a research by rule searches for in a round; 0: none",
    )
    facts_seconds: float = Field(
        default=1,
        gt=0,
        description="for which `facts` is waited for; when it does not answer, as where a flow has "
        "none, it is not asked for a minute, and the research goes without",
    )
    prompts: dict[Role, Prompt] = Field(
        default={}, description="instead of those that the model is asked with"
    )

    def method_of(self, request: ResearchRequest, settings: Settings) -> Method:
        """How a research goes."""
        method = request.method or self.method
        by_model = names_endpoint(settings) if method == "auto" else method == "llm"
        return "llm" if by_model else "rule"
