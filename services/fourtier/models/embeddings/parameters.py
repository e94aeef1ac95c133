"""What a flow sets for `embeddings`."""

from pydantic import Field

from fourtier.runtime.service import Parameters

#: The model that the installed packages contain.
BUNDLED_MODEL = "all-minilm-l6-v2-int8"


class EmbeddingsParameters(Parameters):
    """Which model, and how much of a machine it may take."""

    model: str = Field(
        default=BUNDLED_MODEL, description="the bundled one, or one that fastembed finds on disk"
    )
    cache_size: int = Field(default=10_000, ge=1, description="vectors that are cached")
    threads: int | None = Field(
        default=None, ge=1, description="concurrent runs of the model; a core each, 4 at most"
    )
