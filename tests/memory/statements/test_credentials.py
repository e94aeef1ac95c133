"""What memory must not store."""

import pytest

from fourtier.memory.statements.credentials import REDACTED, has_credentials, redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my password is hunter2.", "hunter2"),
        ("Password for the bank account: Tr0ub4dor", "Tr0ub4dor"),
        ('{"api_key": "abc-123-def"}', "abc-123-def"),
        ("the PIN code of my phone is 4711", "4711"),
        ("CVV=123", "123"),
        ("my SSN is 078-05-1120", "078-05-1120"),
        ("use sk-proj-abcdefghijklmnop", "sk-proj-abcdefghijklmnop"),
        (
            "token ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        ),
        ("key AKIAIOSFODNN7EXAMPLE here", "AKIAIOSFODNN7EXAMPLE"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc", "eyJzdWIiOiIxMjM0"),
        ("postgres://ann:s3cret@db.example/x", "s3cret"),
        ("card 4111-1111-1111-1111 please", "4111-1111-1111-1111"),
    ],
)
def test_a_credential_is_left_out(text: str, secret: str) -> None:
    assert has_credentials(text)
    assert secret not in redacted(text)
    assert REDACTED in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password again.",
        "The secret of good bread is patience.",
        "My budget is 10,000 dollars, not 12,000.",
        "Call +47 22 12 34 56 after six.",
        "The order number is 1234567890123456.",  # no card: the check digit is wrong
        "See https://a.example/b:c@d",
        "My key ring is green.",
    ],
)
def test_what_is_none_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.timeout(100)  # where time grows with the square of the length, this takes minutes
@pytest.mark.parametrize("repeated", ["eyJ-", "pin: .", "sk-a ", "://a:", "pin for "])
def test_a_very_long_text_is_redacted_in_linear_time(repeated: str) -> None:
    text = repeated * (2_000_000 // len(repeated))
    assert redacted(text)
