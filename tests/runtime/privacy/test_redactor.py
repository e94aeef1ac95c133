"""Messages are cleaned before they are written: texts, not ids; and it is counted."""

from datetime import UTC, datetime

import pytest

from fourtier.runtime.errors import PersonalDataError
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redactor import Privacy, redact_json
from fourtier.schema.agent import AgentStep, InvocationEnded
from fourtier.schema.facts import StoreFactRequest
from tests.support.reporting import reported

IBAN = "DE89 3704 0044 0532 0130 00"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
STRICT = Privacy(PrivacyPolicy(email="redact", telephone="redact"), "facts")


def ended(question: str, **fields: object) -> InvocationEnded:
    return InvocationEnded.model_validate(
        {
            "user": "ann@example.com",
            "conversation_id": "+47 22 12 34 56",
            "run_id": "078-05-1120",
            "question": question,
            "answer": "Noted.",
            "started_at": NOW,
            "ended_at": NOW,
        }
        | fields
    )


async def test_every_text_of_a_message_is_cleaned_however_deep() -> None:
    step = AgentStep(
        thought=f"pay {IBAN}",
        action="pay",
        arguments={"to": [{"iban": IBAN}], "account_id": IBAN},
        observation=f"paid {IBAN}",
    )
    cleaned = await STRICT.clean(ended(f"Pay {IBAN}", steps=(step,)))

    assert cleaned.counts == {"iban": 4}
    assert cleaned.message.question == "Pay [left out: iban]"
    (after,) = cleaned.message.steps
    assert (after.thought, after.observation) == ("pay [left out: iban]", "paid [left out: iban]")
    assert after.arguments == {"to": [{"iban": "[left out: iban]"}], "account_id": IBAN}


async def test_what_a_memory_is_found_by_stays_as_it_is() -> None:
    message = ended("My address is ann@example.com")
    cleaned = (await STRICT.clean(message)).message

    assert cleaned == message.model_copy(update={"question": "My address is [left out: email]"})
    assert redact_json({"user": "a@example.com", "q": "a@example.com"}, STRICT.policy) == {
        "user": "a@example.com",
        "q": "[left out: email]",
    }


async def test_a_message_without_personal_data_is_the_message_itself() -> None:
    message = ended("What is the weather?", steps=(AgentStep(thought="hm", arguments={"a": [1]}),))
    cleaned = await STRICT.clean(message)
    assert cleaned.message is message
    assert cleaned.counts == {}


async def test_a_text_that_grows_stays_within_its_limit() -> None:
    cleaned = await Privacy(PrivacyPolicy(email="redact")).clean(ended("a@b.example " * 16_000))
    assert len(cleaned.message.question) == 200_000
    assert cleaned.message.model_validate_json(cleaned.message.model_dump_json())


async def test_what_was_taken_out_is_counted_by_kind_for_the_service() -> None:
    with reported() as report:
        await STRICT.clean(ended(f"I am ann@example.com, mia@example.com, {IBAN}"))
    points = report.points("fourtier.privacy.redacted")
    counted = {
        (point.attributes["fourtier.privacy.kind"], point.value)
        for point in points
        if point.attributes["messaging.consumer.group.name"] == "facts"
    }
    assert counted == {("email", 2), ("iban", 1)}


@pytest.mark.parametrize("content", ["My PIN is 4711", "My PIN is [left out: credential]"])
async def test_a_fact_that_has_or_had_what_is_rejected_is_not_allowed(content: str) -> None:
    cleaned = await STRICT.clean(StoreFactRequest(user="ann", content=content))
    with pytest.raises(PersonalDataError, match=r"rejects \(credential\)"):
        STRICT.require_allowed(cleaned.message, cleaned.counts)
    allowing = Privacy(PrivacyPolicy(credential="redact"))
    allowing.require_allowed(cleaned.message, cleaned.counts)
