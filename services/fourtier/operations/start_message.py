"""What a flow says at its start: which model answers, and who learns what is said."""

from collections.abc import Mapping

from fourtier.memory.extraction.service import ExtractionParameters
from fourtier.memory.learning.choice import asks_model
from fourtier.memory.promotion.service import PromotionParameters
from fourtier.models.completion import bundled
from fourtier.models.completion.named_model import named_model
from fourtier.models.completion.parameters import CompletionParameters
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.settings import Settings


def start_message(services: Mapping[str, Parameters], settings: Settings) -> str:
    """One or two sentences; empty for a process that does not run the model.

    Args:
        services: name to parameters, of those that the process runs.
        settings: the environment, which may name a model.

    Raises:
        StartupError: the environment names half of an endpoint.
    """
    completion = services.get("completion")
    if not isinstance(completion, CompletionParameters):
        return ""
    named = named_model(settings, completion.model)
    learned = _learned(services, settings)
    if named is not None:
        return f"Answers come from the model {named.model} at {named.url}. {learned}"
    return (
        f"Answers come from the bundled {bundled.NAME}, which knows next to nothing. {learned} "
        f"For a real model set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, and start again."
    )


def _learned(services: Mapping[str, Parameters], settings: Settings) -> str:
    learners = [
        each
        for each in services.values()
        if isinstance(each, ExtractionParameters | PromotionParameters)
    ]
    asked = {asks_model(each.method, settings) for each in learners}
    if not asked:
        return "Nothing that you say is learned."
    if len(asked) > 1:
        return "What you say is learned by it in part, and by rule in part."
    return "It learns what you say, too." if asked.pop() else "What you say is learned by rule."
