"""A text is not searched again for what it does not have."""

import pickle

import pytest

from fourtier.runtime.privacy import finding
from fourtier.runtime.privacy.clean_texts import CleanTexts
from fourtier.runtime.privacy.kinds import KINDS, Kind, Span
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redaction import redact

ALL = PrivacyPolicy.model_validate(dict.fromkeys(KINDS, "redact"))
NO_EMAIL = PrivacyPolicy.model_validate(dict.fromkeys(KINDS, "redact") | {"email": "keep"})


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    find = finding.find

    def noted(text: str, kinds: frozenset[Kind]) -> list[Span]:
        texts.append(text)
        return find(text, kinds)

    monkeypatch.setattr(finding, "find", noted)
    return texts


def test_a_clean_text_is_searched_once(searched: list[str]) -> None:
    text = "The harbour of Tarnvik froze in 1931."
    assert [redact(text, ALL).text for _ in range(3)] == [text] * 3
    assert searched == [text]


def test_a_text_with_personal_data_is_cleaned_each_time(searched: list[str]) -> None:
    text = "Write to ann@example.com of the harbour."
    results = [redact(text, ALL) for _ in range(2)]
    assert [result.counts for result in results] == [{"email": 1}] * 2
    assert not any("ann@" in result.text for result in results)
    assert len(searched) == 2


def test_what_is_clean_by_one_policy_may_not_be_by_another(searched: list[str]) -> None:
    text = "Write to bea@example.com of the harbour."
    assert redact(text, NO_EMAIL).text == text
    assert "bea@" not in redact(text, ALL).text
    assert redact(text, NO_EMAIL).text == text
    assert len(searched) == 2


def test_only_so_many_texts_are_known_and_none_is_kept() -> None:
    known, kinds = CleanTexts(max_texts=10), ALL.sought
    for number in range(25):
        known.add(f"secret {number}", kinds)
    assert len(known) == 10
    assert known.has("secret 24", kinds)
    assert not known.has("secret 14", kinds)
    assert "secret" not in repr(vars(known))
    assert b"secret" not in pickle.dumps(known)  # whatever it is made of


def test_a_lone_surrogate_is_text_too() -> None:
    assert redact("a \ud800 b", ALL).text == "a \ud800 b"
