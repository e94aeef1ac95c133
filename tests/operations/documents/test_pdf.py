"""PDF files as blocks, and those that cannot be read."""

import io

import pytest
from pypdf import PdfReader, PdfWriter

from fourtier.operations.documents.errors import UnreadableDocumentError
from fourtier.operations.documents.pdf import read_pdf
from tests.operations.documents.pdf_files import pdf


def test_each_page_is_read_by_itself() -> None:
    content = pdf(["Cellos are kept dry,", "and bows hang."], [], ["Tea is at four."])
    assert list(read_pdf(content)) == ["Cellos are kept dry,\nand bows hang.", "Tea is at four."]


def test_a_word_that_a_line_parts_is_whole() -> None:
    content = pdf(["The violon-", "cello of Anne-", "Marie costs 10-", "20 euros."])
    assert list(read_pdf(content)) == ["The violoncello of Anne-\nMarie costs 10-\n20 euros."]


def test_a_long_page_is_cut_at_sentences() -> None:
    lines = [f"Line {number} of the page says it." for number in range(150)]
    parts = list(read_pdf(pdf(lines)))
    assert len(parts) > 1
    assert all(part.endswith("it.") for part in parts)
    assert "\n".join(parts).splitlines() == lines


def test_a_scan_says_what_helps() -> None:
    with pytest.raises(UnreadableDocumentError, match="as a scan has: make text of them first"):
        list(read_pdf(pdf([], [])))


@pytest.mark.parametrize("content", [b"", b"not a PDF", pdf(["Text."])[:200], b"%PDF-1.4\n%%EOF"])
def test_a_broken_file_says_so(content: bytes) -> None:
    with pytest.raises(UnreadableDocumentError, match="cannot be read as a PDF: "):
        list(read_pdf(content))


@pytest.mark.parametrize("password", ["", "secret"])
def test_a_file_with_a_password_says_so_and_one_with_an_empty_one_is_read(password: str) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Text."]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")  # noqa: S106
    file = io.BytesIO()
    writer.write(file)
    if not password:
        assert list(read_pdf(file.getvalue())) == ["Text."]
        return
    with pytest.raises(UnreadableDocumentError, match="is protected by a password"):
        list(read_pdf(file.getvalue()))


def encrypted(password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Text."]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)  # noqa: S106
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


@pytest.mark.parametrize("algorithm", ["AES-128", "AES-256", "AES-256-R5"])
def test_a_file_that_is_encrypted_by_aes_is_read_where_it_needs_no_password(algorithm: str) -> None:
    assert list(read_pdf(encrypted("", algorithm))) == ["Text."]
    with pytest.raises(UnreadableDocumentError, match="is protected by a password"):
        list(read_pdf(encrypted("secret", algorithm)))


@pytest.mark.parametrize(
    ("pages", "left_out"),
    [
        ([["One."], []], "page 2 has no text: scanned?"),
        ([["One."], [], ["Three."], ["Four."], []], "pages 2 and 5 have no text: scanned?"),
        ([[], [], ["Three."], []], "pages 1, 2 and 4 have no text: scanned?"),
        ([["One."], *[[]] * 20], "pages 2 to 21 have no text: scanned?"),
        ([["One."], ["Two."]], ""),
        ([["One."], [" "]], "page 2 has no text: scanned?"),
    ],
)
def test_pages_without_text_are_named(pages: list[list[str]], left_out: str) -> None:
    noted: list[str] = []
    assert list(read_pdf(pdf(*pages), noted))
    assert [each.partition("? ")[0] + "?" for each in noted] == ([left_out] if left_out else [])
