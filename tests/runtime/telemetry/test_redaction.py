"""What is printed of a server's words has no secret in it, nor a part of one."""

from fourtier.runtime.telemetry.redaction import one_line

SECRET = "sk-0123456789abcdef"  # noqa: S105 - nobody's


def test_a_secret_is_replaced_wherever_it_stands() -> None:
    """Also where the text is cut: a part of a secret is not left before the cut."""
    for position in range(260, 320):
        line = one_line("x" * position + SECRET + "y" * 50, SECRET)
        assert not any(SECRET[:length] in line for length in range(4, len(SECRET)))


def test_text_of_several_lines_is_one_line() -> None:
    assert one_line("a\n  b\tc", None, "") == "a b c"


def test_a_long_text_is_cut() -> None:
    assert one_line("x" * 1_000) == "x" * 300 + " ..."
