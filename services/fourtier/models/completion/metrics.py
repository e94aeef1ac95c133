"""How many tokens a model uses, after OpenTelemetry's conventions for generative AI."""

from fourtier.models.genai import Attributes
from fourtier.runtime.telemetry import MeasuredMetric

_TOKENS = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576)

TOKEN_USAGE = MeasuredMetric(
    "gen_ai.client.token.usage", "tokens of one completion", "{token}", _TOKENS
)


def count_tokens_used(labels: Attributes, prompt: int, completion: int) -> None:
    """Count the tokens of one completion; `labels` are those of its operation."""
    TOKEN_USAGE.record(prompt, {**labels, "gen_ai.token.type": "input"})
    TOKEN_USAGE.record(completion, {**labels, "gen_ai.token.type": "output"})
