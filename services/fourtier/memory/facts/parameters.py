"""What a flow can set of facts."""

from typing import Literal

from pydantic import Field

from fourtier.memory.facts.detector import MIN_PROBABILITY, MIN_SIMILARITY
from fourtier.memory.facts.relevance import MIN_SIMILARITY as MIN_ABOUT
from fourtier.memory.retention.parameters import CENTURY, RetentionParameters

#: What happens to a scope that has more facts than its quota; see `retention.py`.
WhenFull = Literal["evict-superseded-first", "evict-oldest", "reject"]


class FactsParameters(RetentionParameters):
    """How long facts are stored, and how many."""

    ttl_days: float | None = Field(
        default=None, gt=0, le=CENTURY, description="stored for so long after they were last stated"
    )
    when_full: WhenFull = Field(
        default="evict-superseded-first",
        description="which facts of a full scope go, or `reject` for those that are new",
    )
    about_similarity: float = Field(
        default=MIN_ABOUT,
        ge=-1,
        le=1,
        description="cosine from which a fact is shown as being about what somebody wants to "
        "forget, although it has none of its words; another embedding model wants another",
    )
    detect_contradictions: bool = Field(
        default=True,
        description="a small model finds which older statements of the user a new one leaves "
        "untrue, beyond what rules read in the words; what other people say is left to the rules",
    )
    contradiction_probability: float = Field(
        default=MIN_PROBABILITY,
        ge=0.5,
        le=1,
        description="from which the model is believed; lower hides more, some of it wrongly",
    )
    contradiction_similarity: float = Field(
        default=MIN_SIMILARITY,
        ge=-1,
        le=1,
        description="cosine from which two statements are compared; another embedding model "
        "wants another",
    )
