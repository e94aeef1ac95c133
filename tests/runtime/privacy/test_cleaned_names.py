"""A secret that is a name goes as it does from a text; the name still names one thing."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import client_on
from fourtier.runtime.privacy.names import cleaned_name, with_clean_names
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import Scope
from tests.support.flow import running_flow
from tests.support.waiting import wait_until

KEY = "sk_live_abcdefghijklmnop1234567890"
RANDOM = "wJ8lrXUtnF4MIK7MD3Gb"
POLICY = PrivacyPolicy()
ANN = Scope("ann", "default")


def turn(**names: Any) -> DialogueTurn:
    fields = {"conversation_id": "c1", "speaker": "Ann", "turn_id": "t1", "content": "Hello."}
    return DialogueTurn(user="ann", timestamp=datetime(2026, 3, 1, tzinfo=UTC), **fields | names)


@pytest.mark.parametrize(
    "name", [KEY, RANDOM, f"/home/ann/{KEY}.txt", f"/home/{RANDOM}/notes.md", f"{RANDOM}.pdf"]
)
def test_a_secret_in_a_name_is_taken_out_the_same_way_each_time(name: str) -> None:
    cleaned = cleaned_name(name, POLICY)
    assert KEY not in cleaned
    assert RANDOM not in cleaned
    assert cleaned == cleaned_name(name, POLICY) == cleaned_name(cleaned, POLICY)
    assert cleaned != cleaned_name(name.replace("l", "x"), POLICY)
    assert Path(cleaned).suffix == Path(name).suffix


@pytest.mark.parametrize(
    "name",
    [
        "c1",
        "20260301-101500-a1b2c3",
        "4fa171d9-03a8-5198-9c2b-a08930b4330f",
        "/home/ann/projects/README.md",
        "ann@example.com",
        "+47 22 12 34 56",
        "/srv/TestHTTP2ServerConnectionPool3Factory.md",
    ],
)
def test_other_names_stay(name: str) -> None:
    assert cleaned_name(name, POLICY) == name


def test_a_policy_that_keeps_secrets_keeps_names() -> None:
    assert cleaned_name(KEY, PrivacyPolicy(credential="keep")) == KEY


async def test_names_of_a_message_are_cleaned_before_it_is_written() -> None:
    cleaned = (await Privacy().clean(turn(speaker=KEY, conversation_id=KEY))).message
    assert KEY not in cleaned.model_dump_json()
    assert with_clean_names(turn(speaker=KEY, conversation_id=KEY), POLICY) == cleaned
    same = turn()
    assert with_clean_names(same, POLICY) is same


async def test_what_is_stored_under_a_secret_is_found_by_it(tmp_path: Path) -> None:
    services = {"embeddings": {}, "archive": {}, "conversations": {}}
    async with running_flow(tmp_path, services) as flow, client_on(flow.bus) as client:
        await client.conversations.record(turn(speaker=KEY, conversation_id=KEY))

        async def is_stored() -> bool:
            record = await client.conversations.get(ANN, KEY)
            pages = await client.archive.list(ANN)
            return bool(record.invocations) and bool(pages.total)

        await wait_until(is_stored)
        await client.archive.import_document(ANN, f"/home/ann/{KEY}.md", "Cellos.")
        pages = (await client.archive.list(ANN)).model_dump_json()
        documents = await client.archive.documents(ANN)
        listed = (await client.conversations.list(ANN)).model_dump_json()
        record = (await client.conversations.get(ANN, KEY)).model_dump_json()
        assert KEY not in pages + listed + record + documents.model_dump_json()
        forgotten = await client.forget.document(ANN, f"/home/ann/{KEY}.md")
        assert forgotten.archive.number == 1
