"""Which endpoint the environment names."""

from typing import Any

import pytest

from fourtier.models.completion.named_model import ModelEndpoint, named_model
from fourtier.runtime.errors import StartupError
from fourtier.runtime.settings import Settings


def named(model: str | None = None, **settings: Any) -> ModelEndpoint | None:
    unset = {"model_url": None, "model_key": None, "model_name": None}
    return named_model(Settings(**unset | settings), model)


def test_nothing_named_is_the_bundled_model() -> None:
    assert named() is None
    assert named(model_url="", model_key="") is None


def test_a_key_alone_is_openai() -> None:
    found = named(model_key="sk-1", model_name="gpt-x")
    assert found == ModelEndpoint("https://api.openai.com/v1", "sk-1", "gpt-x")


def test_a_url_needs_no_key() -> None:
    found = named("llama", model_url="http://localhost:11434/v1")
    assert found == ModelEndpoint("http://localhost:11434/v1", None, "llama")


def test_the_environments_model_overrides_the_flows() -> None:
    found = named("flow", model_url="http://h/v1", model_name="environment")
    assert found is not None
    assert found.model == "environment"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model_url": "http://h/v1"}, "OPENAI_MODEL"),
        ({"model_name": "gpt-x"}, "OPENAI_BASE_URL or OPENAI_API_KEY"),
        ({"model_url": "localhost:11434", "model_name": "m"}, "not an http or https URL"),
        ({"model_url": "http://", "model_name": "m"}, "not an http or https URL"),
        ({"model_url": "http://h:port/v1", "model_name": "m"}, "not a URL"),
        ({"model_url": "http://ann:secret@h/v1", "model_name": "m"}, "OPENAI_API_KEY"),
    ],
)
def test_half_or_wrong_is_one_clear_line(settings: dict[str, str], words: str) -> None:
    with pytest.raises(StartupError, match=words) as error:
        named(**settings)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
