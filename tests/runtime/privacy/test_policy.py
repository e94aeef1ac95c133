"""The section `privacy` of a flow file."""

import pytest

from fourtier.flows.model import FlowError, parse_flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.settings import read_settings

FLOW = "name: shop\nservices:\n  facts: {}\n"


def test_a_flow_says_for_each_kind_what_happens() -> None:
    flow = parse_flow(f"{FLOW}privacy:\n  e-mail: keep\n".replace("e-mail", "email"), "f")
    assert flow.privacy.action("email") == "keep"
    flow = parse_flow(f"{FLOW}privacy:\n  payment-card: redact\n  health: keep\n", "f")
    assert flow.privacy.action("payment-card") == "redact"
    assert flow.privacy.sought == {
        "credential", "payment-card", "iban", "passport", "national-id",
    }  # fmt: skip
    assert host_plan(flow, read_settings()).privacy == flow.privacy


def test_what_nobody_sets_is_what_a_careful_operator_sets() -> None:
    policy = parse_flow(FLOW, "f").privacy
    assert policy.model_dump() == {
        "credential": "reject",
        "payment_card": "reject",
        "iban": "redact",
        "passport": "redact",
        "national_id": "redact",
        "email": "keep",
        "telephone": "keep",
        "health": "redact",
        "opted_out_users": frozenset(),
    }


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("  iban: hide", "privacy.iban: Input should be 'keep', 'redact' or 'reject'"),
        ("  iban: refuse", "privacy.iban: Input should be 'keep', 'redact' or 'reject'"),
        ("  fingerprint: keep", "privacy.fingerprint"),
        ("  - iban", "privacy: Input should be"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(section: str, said: str) -> None:
    with pytest.raises(FlowError) as error:
        parse_flow(f"{FLOW}privacy:\n{section}\n", "shop.yaml")
    assert said in str(error.value)
    assert str(error.value).startswith("shop.yaml: ")
