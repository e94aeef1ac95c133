"""What a newcomer types, also the wrong things."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.model import Reply, Says, Writes, scripted_model
from tests.support.ports import free_port
from tests.support.process import FOURTIER, FlowCommand

pytestmark = [pytest.mark.embedded, pytest.mark.processes]

FLOW: dict[str, Any] = {
    "name": "small",
    "services": {"embeddings": {}, "facts": {}, "conversations": {}},
}


@pytest.fixture
def command(tmp_path: Path) -> FlowCommand:
    flow = tmp_path / "flow.yaml"
    flow.write_text(yaml.safe_dump(FLOW), "utf-8")
    return FlowCommand(flow, tmp_path / "data", free_port())


async def test_without_a_flow_it_says_how_to_start_one(command: FlowCommand) -> None:
    code, output = await command.run("facts", "list")
    assert code == 2
    assert "no flow is running at" in output
    assert "fourtier up" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"services": {"facts": {"colour": "red"}}}, "services.facts.colour"),
        ({"services": {"weather": {}}}, "no service 'weather'"),
        ({"bus": {"port": "many"}}, "bus.port"),
        ({"name": "Not A Name"}, "name:"),
    ],
)
async def test_a_wrong_flow_is_reported_with_file_and_key(
    command: FlowCommand, change: dict[str, object], said: str
) -> None:
    command.flow.write_text(yaml.safe_dump(FLOW | change), "utf-8")
    code, output = await command.run("flow", "check", str(command.flow))
    joined = " ".join(output.split())
    assert code == 2
    assert said in joined
    assert "Traceback" not in output


async def said_at_the_start(command: FlowCommand, **model: str) -> str:
    """What a chat says before its first message, beside the answers."""
    every = {"completion": {}, "extraction": {}, "promotion": {}, **FLOW["services"]}
    command.flow.write_text(yaml.safe_dump(FLOW | {"services": every}), "utf-8")
    process = await asyncio.create_subprocess_exec(
        FOURTIER,
        *("up", str(command.flow), "--chat"),
        env={**command.environment, **model},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    answers, beside = await process.communicate()
    assert process.returncode == 0
    assert answers == b""  # which a program may read
    return " ".join(beside.decode().split())


async def test_a_chat_begins_with_who_answers_and_who_learns(command: FlowCommand) -> None:
    said = await said_at_the_start(command)
    assert "Answers come from the bundled" in said
    assert "What you say is learned by rule." in said


@pytest.mark.parametrize(
    ("output", "learned"),
    [
        (Writes({"answer": "yes"}), "It learns what you say, too."),
        (Says("I speak no JSON."), "What you say is learned by rule while the model cannot:"),
    ],
)
async def test_a_chat_begins_with_what_the_model_can_do(
    command: FlowCommand, output: Reply, learned: str
) -> None:
    async with scripted_model(script=lambda asked: output if asked.schema else "Yes.") as model:
        said = await said_at_the_start(
            command, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="sk-x", OPENAI_MODEL="scripted"
        )
    assert f"Answers come from the model scripted at {model.url}." in said
    assert learned in said


async def test_facts_can_be_added_searched_listed_and_forgotten(command: FlowCommand) -> None:
    flow = ("--flow", str(command.flow), "--user", "ann")
    async with command.up():
        _, added = await command.run("facts", "add", "I live in Oslo", *flow)
        _, found = await command.run("facts", "search", "Where is my home?", "--json", *flow)
        fact_id = json.loads(found)[0]["id"]
        _, complaint = await command.run("forget", "--fact", "no-such-fact", "--yes", *flow)
        code, forgot = await command.run("forget", "--fact", fact_id, "--yes", *flow)
        _, listed = await command.run("facts", "list", *flow)
        locked, holder = await command.run("up", str(command.flow))

    assert "Remembered" in added
    assert "Nothing of it is stored" in complaint
    assert code == 0, forgot
    assert "1 memory is forgotten" in forgot
    assert "0 of 0 facts of ann/default" in listed
    assert locked == 2
    assert "is in use by process" in holder


async def test_bad_lines_of_an_import_are_named_and_the_rest_is_imported(
    command: FlowCommand, tmp_path: Path
) -> None:
    good = {
        "conversation_id": "c1",
        "user": "ann",
        "speaker": "Ann",
        "timestamp": "2026-03-01T10:00:00+00:00",
        "content": "I live in Oslo.",
    }
    file = tmp_path / "dialogue.jsonl"
    file.write_text(
        "\n".join(
            [
                json.dumps(good),
                "not json",
                json.dumps(good | {"timestamp": "yesterday"}),
                "",
                json.dumps({name: value for name, value in good.items() if name != "speaker"}),
                json.dumps(good | {"content": "I moved to Bergen."}),
            ]
        ),
        "utf-8",
    )
    async with command.up():
        code, output = await command.run("import", str(file), "--flow", str(command.flow))
    assert code == 1
    assert "2 messages imported, 3 bad lines." in output
    assert "line 2:" in output
    assert "line 3: timestamp:" in output
    assert "line 5: speaker: Field required" in output


async def test_a_document_is_imported_listed_found_and_forgotten(
    command: FlowCommand, tmp_path: Path
) -> None:
    command.flow.write_text(yaml.safe_dump(FLOW | {"services": {"embeddings": {}, "archive": {}}}))
    file = tmp_path / "handbook.md"
    file.write_text("# Cellos\n\nThe violoncello is kept dry.\n\nBows hang.", "utf-8")

    async def run(*words: str) -> str:
        code, output = await command.run(*words, "--flow", str(command.flow), "--user", "ann")
        assert code == 0, output
        return " ".join(output.split())

    async with command.up():
        assert "2 blocks stored, 0 unchanged, 0 deleted." in await run("import", str(file))
        file.write_text("# Cellos\n\nThe violoncello is kept dry.", "utf-8")
        assert "0 blocks stored, 1 unchanged, 1 deleted." in await run("import", str(file))
        assert "page 1: 1 entry," in await run("archive", "list")
        assert "document handbook.md" in await run("archive", "list")
        found = json.loads(await run("archive", "search", "violoncello", "--json"))
        assert [hit["entry"]["source_kind"] for hit in found] == ["document"]
        said = await run("archive", "show", found[0]["entry"]["id"])
        assert "document handbook.md, page 1" in said
        forgotten = await run("forget", "--document", str(file), "--yes")
        assert "1 memory is forgotten" in forgotten
        assert "1 not stored (forgotten," in await run("import", str(file))
        assert "is empty" in await run("archive", "list")


@pytest.mark.slow
async def test_files_of_one_name_are_two_documents_that_are_named_as_people_type_them(
    command: FlowCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.flow.write_text(yaml.safe_dump(FLOW | {"services": {"embeddings": {}, "archive": {}}}))
    for project in ("p1", "p2"):
        (tmp_path / project).mkdir()
        (tmp_path / project / "README.md").write_text(f"This is {project}.", "utf-8")

    async def run(*words: str, at: str = ".", ends_with: int = 0) -> str:
        monkeypatch.chdir(tmp_path / at)
        code, output = await command.run(*words, "--flow", str(command.flow), "--user", "ann")
        assert code == ends_with, output
        return " ".join(output.split())

    async with command.up():
        assert "1 block stored, 0 unchanged" in await run("import", "README.md", at="p1")
        assert "1 block stored, 0 unchanged" in await run("import", "README.md", at="p2")
        assert "0 blocks stored, 1 unchanged" in await run("import", "./README.md", at="p1")
        assert "0 blocks stored, 1 unchanged" in await run("import", "../p2/README.md", at="p1")
        listed = await run("archive", "list")
        assert "document p1/README.md" in listed
        assert "document p2/README.md" in listed
        assert "This is p1." in await run("archive", "show", "README.md", at="p1")
        assert "This is p2." in await run("archive", "show", "p2/README.md", at="p1")
        refused = await run("archive", "show", "README.md", ends_with=2)
        for project in ("p1", "p2"):
            assert str(tmp_path / project / "README.md") in refused
        await run("forget", "--document", "README.md", "--yes", ends_with=2)
        assert "1 memory is forgotten" in await run(
            "forget", "--document", "README.md", "--yes", at="p2"
        )
        assert "document README.md" in await run("archive", "list")
        (tmp_path / "p1" / "README.md").write_text("This is more.", "utf-8")
        changed = await run("import", "README.md", at="p1")
        assert "1 block stored (1 of them in place of an earlier one)" in changed
