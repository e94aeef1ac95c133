"""What a flow says at its start: which model answers, and who learns what is said."""

from collections.abc import Mapping

from fourtier.memory.extraction.service import ExtractionParameters
from fourtier.memory.learning.choice import asks_model
from fourtier.memory.promotion.service import PromotionParameters
from fourtier.models.completion import bundled
from fourtier.models.completion.named_model import named_model
from fourtier.models.completion.parameters import CompletionParameters
from fourtier.operations.model_check import ModelCheck
from fourtier.runtime.service.context import Parameters
from fourtier.runtime.settings import Settings


def start_message(
    services: Mapping[str, Parameters], settings: Settings, checked: ModelCheck | None = None
) -> str:
    """One or two sentences; empty for a process that does not run the model.

    Args:
        services: name to parameters, of those that the process runs.
        settings: the environment, which may name a model.
        checked: what the named model did when it was asked; None where that is not known.

    Raises:
        StartupError: the environment names half of an endpoint.
    """
    completion = services.get("completion")
    if not isinstance(completion, CompletionParameters):
        return ""
    named = named_model(settings, completion.model)
    if named is not None:
        model = f"the model {named.model} at {named.url}"
        problem = checked.step if checked else ""
        answers = (
            f"T{model[1:]} does not answer: {problem}" if problem else f"Answers come from {model}"
        )
        return f"{answers}. {_learned(services, settings, checked)}"
    return (
        f"Answers come from the bundled {bundled.NAME}, which knows next to nothing. "
        f"{_learned(services, settings, checked)} "
        f"For a real model set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, and start again."
    )


def _learned(
    services: Mapping[str, Parameters], settings: Settings, checked: ModelCheck | None
) -> str:
    learners = [
        each
        for each in services.values()
        if isinstance(each, ExtractionParameters | PromotionParameters)
    ]
    asked = {asks_model(each.method, settings) for each in learners}
    if not asked:
        return "Nothing that you say is learned."
    if not any(asked):
        return "What you say is learned by rule."
    if checked and checked.output:
        return f"What you say is learned by rule while the model cannot: {checked.output}."
    if len(asked) > 1:
        return "What you say is learned by it in part, and by rule in part."
    return "It learns what you say, too." if checked else "It is asked to learn what you say, too."
