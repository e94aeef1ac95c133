"""Plain text as blocks, and paragraphs that are too long for a page."""

import pytest

from fourtier.client.documents import MAX_BLOCK_BYTES, blocks_of, bounded
from fourtier.models.text.tokens import count_tokens
from fourtier.operations.documents.errors import UnreadableDocumentError
from fourtier.operations.documents.plain_text import read_plain_text


def test_blank_lines_part_paragraphs_whatever_ends_a_line() -> None:
    text = "\n\n  First line,\nsecond line. \n \t\n\n\nSecond  paragraph.\r\n\r\nThird.\n"
    wanted = ["  First line,\nsecond line.", "Second  paragraph.", "Third."]
    assert list(blocks_of(text)) == wanted
    assert list(read_plain_text(b"\xef\xbb\xbf" + text.encode())) == wanted


def test_a_long_paragraph_is_cut_behind_sentences_and_nothing_is_lost() -> None:
    sentences = [f"Sentence number {number} says something." for number in range(200)]
    parts = list(blocks_of(" ".join(sentences)))
    assert " ".join(parts).split() == " ".join(sentences).split()
    assert all(part.endswith("something.") for part in parts)
    assert all(count_tokens(part) <= 512 for part in parts)
    assert len(parts) == 4


def test_what_has_no_sentence_is_cut_behind_words_and_a_word_anywhere() -> None:
    words = " ".join(f"word{number}" for number in range(1_000))
    assert " ".join(bounded(words)) == words
    assert "".join(bounded("ü" * 5_000)) == "ü" * 5_000
    sizes = [len(part.encode()) for part in bounded("\U0001f600" * 2_000)]
    assert max(sizes) <= MAX_BLOCK_BYTES


def test_a_page_break_parts_paragraphs() -> None:
    assert list(blocks_of("One.\fTwo.\n\f\n")) == ["One.", "Two."]


def test_megabytes_without_a_blank_line_take_no_time() -> None:
    text = "\n".join(f"2026-03-01 line {number} of a log" for number in range(200_000))
    parts = list(blocks_of(text))
    assert "\n".join(parts) == text
    assert list(bounded("\ud800" * 3_000)) == ["\ud800" * 2_048, "\ud800" * 952]


def test_a_paragraph_that_fits_is_not_cut() -> None:
    text = "A sentence. " * 170
    assert list(blocks_of(text)) == [text.rstrip()]


def test_what_is_not_utf8_says_so() -> None:
    with pytest.raises(UnreadableDocumentError, match=r"is not UTF-8 text \(byte 1\)"):
        list(read_plain_text(b"a\xff"))
