"""The estimate of tokens, against what real tokenizers count."""

import pytest

from fourtier.models.text.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "minimum", "maximum"),
    [
        ("", 0, 0),
        ("x", 1, 1),
        ("The quick brown fox jumps over the lazy dog.", 10, 13),
        ("1 2 3 4 5 6", 6, 12),
        ("你好世界的人", 3, 7),
        ("Съешь же ещё этих мягких французских булок", 12, 24),
    ],
)
def test_the_estimate_is_near_what_tokenizers_count(text: str, minimum: int, maximum: int) -> None:
    assert minimum <= count_tokens(text) <= maximum


def test_more_text_never_costs_less() -> None:
    text = "One and two, 3 and four. " * 20

    counts = [count_tokens(text[:length]) for length in range(len(text))]

    assert counts == sorted(counts)
