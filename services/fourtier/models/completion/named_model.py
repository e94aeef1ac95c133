"""The endpoint and model that the environment names, if any."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from fourtier.runtime.errors import StartupError
from fourtier.runtime.settings import Settings, secret

_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """A model at an endpoint."""

    url: str
    key: str | None
    model: str


def names_endpoint(settings: Settings) -> bool:
    """Whether the environment of this process names an endpoint: its URL, or a key alone.

    A key alone is one of OpenAI's.
    """
    return bool(settings.model_url or settings.model_key)


def named_model(settings: Settings, model: str | None) -> ModelEndpoint | None:
    """The endpoint that is named; None stands for the bundled model.

    An empty variable counts as unset. `model` is the name that the flow gives.

    Raises:
        StartupError: only half of it is named, or the URL is not one.
    """
    url, key = settings.model_url or None, secret(settings.model_key) or None
    name = settings.model_name or model
    if not url and not key:
        if name:
            raise StartupError(
                f"the model {name} is named without an endpoint: set OPENAI_BASE_URL or "
                f"OPENAI_API_KEY, or unset the model for the bundled one"
            )
        return None
    if not name:
        raise StartupError(
            "an endpoint is named by OPENAI_BASE_URL or OPENAI_API_KEY without a model: set "
            "OPENAI_MODEL, or completion's parameter `model` in the flow"
        )
    return ModelEndpoint(_checked(url or _OPENAI), key, name)


def _checked(url: str) -> str:
    try:
        parsed = urlsplit(url)
        host, _port = parsed.hostname, parsed.port
    except ValueError as error:
        raise StartupError(f"OPENAI_BASE_URL is not a URL: {error}") from error
    if parsed.scheme not in {"http", "https"} or not host:
        raise StartupError(f"OPENAI_BASE_URL is {url!r}, which is not an http or https URL")
    if parsed.username or parsed.password:
        raise StartupError("OPENAI_BASE_URL has a password in it: use OPENAI_API_KEY")
    return url
