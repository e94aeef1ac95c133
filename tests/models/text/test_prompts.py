"""A service's own prompts, and what a flow has instead of them."""

from pathlib import Path

import pytest

from fourtier.agents.react_mem.parameters import AgentParameters
from fourtier.models.text.prompts import PromptFile, read_prompt
from fourtier.runtime.errors import StartupError

AGENT = "fourtier.agents.react_mem"


def test_the_prompt_of_a_service_stands_in_a_file_beside_its_code() -> None:
    assert read_prompt(AGENT, "system").startswith("You are a helpful assistant")


def test_a_flow_can_give_the_text_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "finish.md"
    file.write_text("\nAnswer now.\n")
    parameters = AgentParameters.model_validate(
        {"prompts": {"system": "You sell bicycles.", "finish": {"file": str(file)}}}
    )
    parameters.read_prompts()
    assert parameters.prompt("system") == "You sell bicycles."
    assert parameters.prompt("finish") == "Answer now."


def test_a_prompt_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="prompts"):
        AgentParameters.model_validate({"prompts": {"sytem": "You sell bicycles."}})


def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    missing = tmp_path / "missing.md"
    with pytest.raises(StartupError, match=r"missing\.md cannot be read"):
        AgentParameters(prompts={"system": PromptFile(file=missing)}).read_prompts()
    missing.write_text(" \n")
    with pytest.raises(StartupError, match="the prompt 'finish' is empty"):
        read_prompt(AGENT, "finish", PromptFile(file=missing))
