"""Markdown as blocks."""

from fourtier.operations.documents.markdown import read_markdown


def blocks(text: str) -> list[str]:
    return list(read_markdown(text.encode()))


def test_a_heading_goes_with_the_paragraph_behind_it() -> None:
    text = "# Handbook\n\n## Cellos\n\nKeep *them* dry.\n\nAnd clean.\n\nBows\n----\n\nHang them.\n"
    assert blocks(text) == [
        "# Handbook\n\n## Cellos\n\nKeep *them* dry.",
        "And clean.",
        "Bows\n----\n\nHang them.",
    ]


def test_a_heading_at_the_end_stands_alone_and_a_rule_is_no_heading() -> None:
    assert blocks("One.\n\n---\n\nTwo.\n\n# End") == ["One.", "---", "Two.", "# End"]


def test_code_stays_whole_with_its_blank_lines() -> None:
    code = "```python\nx = 1\n\n\n# not a heading\n~~~\ny = 2\n```"
    assert blocks(f"Run this:\n\n{code}\n\nThen that.") == ["Run this:", code, "Then that."]
    longer = "````\n```\n\n```\n````"
    assert blocks(f"{longer}\n\nBehind.") == [longer, "Behind."]


def test_code_in_a_list_and_code_without_an_end_stay_whole() -> None:
    item = "- Run:\n  ```\n  a\n\n  b\n  ```"
    assert blocks(f"{item}\n\nBehind.") == [item, "Behind."]
    assert blocks("~~~\na\n\nb") == ["~~~\na\n\nb"]


def test_code_in_a_line_begins_no_block() -> None:
    assert blocks("```not code```\n\nBehind.") == ["```not code```", "Behind."]


def test_long_code_is_cut_at_lines_that_keep_their_indentation() -> None:
    lines = [f"    call(number={number}). Not a sentence" for number in range(200)]
    text = "\n".join(["```", *lines, "```"])
    parts = blocks(text)
    assert len(parts) > 1
    assert "\n".join(parts) == text
