"""Which way a service learns: by a real model where one is named, otherwise by rule."""

import logging
from typing import Literal, TypeVar

from fourtier.memory.learning.fallback import ModelWithRules
from fourtier.memory.learning.learned import Method
from fourtier.models.completion.named_model import names_endpoint
from fourtier.runtime.settings import Settings

log = logging.getLogger(__name__)

Experience = TypeVar("Experience")

#: `auto` asks the model where the environment names one, for the bundled one is too small for it;
#: `llm` asks whichever model the flow has, `statements` none.
MethodName = Literal["auto", "statements", "llm"]

#: How a flow names a model.
_HOW = "name a model by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL"


def asks_model(method: MethodName, settings: Settings) -> bool:
    """Whether a model is asked.

    Only the environment of this process counts: where the services of a flow run apart, those
    that learn need the URL, or `method: llm`.
    """
    if method == "auto":
        return names_endpoint(settings)
    return method == "llm"


def chosen_method(
    method: MethodName,
    settings: Settings,
    *,
    service: str,
    by_rule: Method[Experience],
    by_model: ModelWithRules[Experience],
) -> Method[Experience]:
    """The method, which is logged too."""
    if asks_model(method, settings):
        log.info("%s learns by %s, and by rule where that fails.", service, _named(settings))
        return by_model
    reason = f"; to learn more, {_HOW}" if method == "auto" else ""
    log.info("%s learns by rule: no model is asked%s.", service, reason)
    return by_rule


def _named(settings: Settings) -> str:
    if not settings.model_url and not settings.model_key:
        return "the bundled model, which is too small for it"
    return f"the model {settings.model_name}" if settings.model_name else "the flow's model"
