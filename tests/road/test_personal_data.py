"""What a flow does not keep is afterwards in no file but the broker's own, and in no log line."""

import json
import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.client import Client, client_on
from fourtier.runtime.errors import CallFailedError
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redacted_log
from fourtier.runtime.telemetry.logs import set_up_logs
from fourtier.schema.conversations import DIALOGUE_RECORDED, DialogueTurn
from fourtier.schema.episodes import STORE_EPISODE, StoreEpisodeRequest
from fourtier.schema.facts import STORE_FACT, StoreFactRequest
from fourtier.schema.message import Scope
from tests.road.services import ROAD
from tests.support.flow import RunningFlow, running_flow
from tests.support.model import Calls, ModelRequest, Reply, Says, scripted_model
from tests.support.waiting import wait_until

ANN = Scope("ann", "default")
NOW = datetime(2026, 3, 1, tzinfo=UTC)

#: What is said of each kind; in the values there is nothing that stands in another file by chance.
SAID: Mapping[str, tuple[str, str]] = {
    "credential": ("My password is {}.", "zq-hunter-77"),
    "payment-card": ("My card is {}, I think.", "4242 4242 4242 4242"),
    "iban": ("My brother Tom in Bergen has the account {}.", "DE89 3704 0044 0532 0130 00"),
    "passport": ("My passport number is {} and I travel to Rome.", "C01X00T47"),
    "national-id": ("My sister Mia in Oslo has the social security number {}.", "078-05-1120"),
    "health": ("My neighbour Tom in the red house has {}, sadly.", "schizophrenia"),
    "email": ("My sister Mia in Oslo reads {} every day.", "mia@zq.example"),
    "telephone": ("My sister Mia in Oslo has the telephone number {}.", "+47 22 12 34 56"),
}
RETAINED = {"email", "telephone"}
LEFT_OUT = [value for kind, (_, value) in SAID.items() if kind not in RETAINED]


def sentence(kind: str) -> str:
    said, value = SAID[kind]
    return said.format(value)


def repeats(request: ModelRequest) -> Reply:
    """A model that says everything once more: to a tool, in a thought, and in its answer."""
    question = request.last.splitlines()[-1] if "Question" in request.last else request.last
    if any(message["role"] == "tool" for message in request.messages):
        return Says(f"You said: {' '.join(sentence(kind) for kind in SAID)}", thought=question)
    text = " ".join(sentence(kind) for kind in SAID)
    return Calls("retrieve_facts", {"query": text}, thought=text)


@pytest.fixture
def logs(capsys: pytest.CaptureFixture[str]) -> Generator[pytest.CaptureFixture[str]]:
    root, own = logging.getLogger(), logging.getLogger("fourtier")
    before = root.handlers[:], root.level, own.level
    yield capsys
    root.handlers[:], root.level, own.level = before
    root.setLevel(before[1])
    own.setLevel(before[2])


@asynccontextmanager
async def road(data: Path, **options: Any) -> AsyncGenerator[tuple[RunningFlow, Client]]:
    async with (
        scripted_model(script=repeats) as model,
        running_flow(data, ROAD, bus="embedded", settings=model.settings, **options) as flow,
        client_on(flow.bus) as client,
    ):
        yield flow, client


def found_in_files(data: Path, values: list[str]) -> list[tuple[str, str]]:
    """Which values stand in which files; the broker's own are another matter."""
    return [
        (value, str(file.relative_to(data)))
        for file in sorted(data.rglob("*"))
        if file.is_file() and file.relative_to(data).parts[0] != "bus"
        for content in [file.read_bytes().lower()]
        for value in values
        if value.lower().encode() in content or value.replace(" ", "").encode() in content
    ]


async def tell_by_every_road(flow: RunningFlow, client: Client) -> None:
    """As a question, as imported dialogue, as a fact and as an episode of a client."""
    everything = " ".join(sentence(kind) for kind in SAID)
    for number, kind in enumerate(SAID):
        await client.answer(sentence(kind), user="ann", conversation_id=f"c{number}")
        turn = DialogueTurn(
            user="ann",
            conversation_id="imported",
            speaker="Tom",
            content=sentence(kind),
            timestamp=NOW,
            turn_id=f"t{number}",
        )
        await flow.caller.publish(DIALOGUE_RECORDED, turn)
        await flow.caller.publish(
            STORE_FACT.topic, StoreFactRequest(user="ann", content=sentence(kind), quote=everything)
        )
    # Talk between people alone makes no episode.
    asked = f"Which hotel in Bergen suits them? {everything}"
    await client.answer(asked, user="ann", conversation_id="imported")
    await flow.caller.call(
        STORE_EPISODE,
        StoreEpisodeRequest(
            user="ann",
            episode_id="e1",
            goal=everything,
            steps=(everything,),
            outcome=everything,
            lessons=everything,
            timestamp=NOW,
            metadata={"note": everything},
        ),
    )


async def test_what_is_not_stored_is_in_no_file_and_in_no_log_line(
    tmp_path: Path, logs: pytest.CaptureFixture[str]
) -> None:
    set_up_logs("DEBUG", "text", redacted_log)
    async with road(tmp_path) as (flow, client):
        await tell_by_every_road(flow, client)

        async def reported() -> bool:
            imported = await client.conversations.get(ANN, "imported")
            asked = await client.conversations.get(ANN, f"c{len(SAID) - 1}")
            facts = await client.facts.list(ANN)
            stored = " ".join(fact.content for fact in facts.facts)
            return (
                len(imported.invocations) == len(SAID) + 1
                and len(asked.invocations) == 1
                and all(SAID[kind][1] in stored for kind in RETAINED)
            )

        await wait_until(reported)
        assert await client.conversations.end(ANN, "imported")

        async def promoted() -> bool:
            return any(
                episode.source == "imported"
                for episode in (await client.episodes.list(ANN)).episodes
            )

        await wait_until(promoted)
        facts = [fact.content for fact in (await client.facts.list(ANN)).facts]
        record = await client.conversations.get(ANN, "c2")

    assert found_in_files(tmp_path, LEFT_OUT) == []
    written = {value for value, _ in found_in_files(tmp_path, [SAID[kind][1] for kind in RETAINED])}
    assert written == {SAID[kind][1] for kind in RETAINED}  # so the search finds what is there
    assert not [value for value in LEFT_OUT if value in logs.readouterr().err]
    assert "My brother Tom in Bergen has the account [left out: iban]." in facts
    assert not [fact for fact in facts if "credential" in fact or "payment-card" in fact]
    assert record.invocations[0].query == (
        "My brother Tom in Bergen has the account [left out: iban]."
    )


@pytest.mark.parametrize("kind", ["credential", "payment-card", "iban", "health", "email"])
async def test_a_reply_says_what_memory_leaves_out(tmp_path: Path, kind: str) -> None:
    async with (
        scripted_model(Says("Noted."), Says(f"You said: {sentence(kind)}"), Says("Hm.")) as model,
        running_flow(tmp_path, ROAD, settings=model.settings) as flow,
        client_on(flow.bus) as client,
    ):
        once = await client.answer(sentence(kind), user="ann")
        twice = await client.answer(sentence(kind), user="ann")
        forgetful = await client.answer(sentence(kind), user="ann", enable_memory=False)

    counted = {} if kind in RETAINED else {kind: 1}
    assert once.metadata.redacted == counted
    assert twice.metadata.redacted == dict.fromkeys(counted, 2)
    assert twice.answer == f"You said: {sentence(kind)}"  # the client gets it all
    assert forgetful.metadata.redacted == {}


async def test_a_client_learns_why_its_fact_is_rejected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with road(tmp_path) as (flow, client):
        with pytest.raises(CallFailedError, match=r"rejects \(credential\)") as rejected:
            await client.facts.store(ANN, sentence("credential"))
        stored = await flow.caller.call(
            STORE_FACT, StoreFactRequest(user="ann", content=sentence("iban"))
        )
        facts = (await client.facts.list(ANN)).facts
    assert rejected.value.type == "personal-data"
    assert stored.redacted == {"iban": 1}
    assert [fact.content for fact in facts] == [
        "My brother Tom in Bergen has the account [left out: iban]."
    ]
    assert "dead-letter" not in caplog.text  # nobody has to look at what was rejected


async def test_a_flow_may_keep_or_reject_what_it_likes(tmp_path: Path) -> None:
    policy = PrivacyPolicy(iban="keep", email="reject", health="keep")
    async with road(tmp_path, privacy=policy) as (_flow, client):
        with pytest.raises(CallFailedError, match=r"rejects \(email\)"):
            await client.facts.store(ANN, sentence("email"))
        for kind in ("iban", "health"):
            await client.facts.store(ANN, sentence(kind))
        facts = {fact.content for fact in (await client.facts.list(ANN)).facts}
    assert facts == {sentence("iban"), sentence("health")}


def test_json_logs_have_none_either(logs: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "json", redacted_log)
    try:
        raise ValueError(sentence("iban"))  # noqa: TRY301
    except ValueError:
        logging.getLogger("fourtier.test").exception("%s failed", sentence("telephone"))

    (line,) = [json.loads(each) for each in logs.readouterr().err.splitlines()]
    assert line["message"] == (
        "My sister Mia in Oslo has the telephone number [left out: telephone]. failed"
    )
    assert "[left out: iban]" in line["exception"]
    assert "DE89" not in line["exception"]
