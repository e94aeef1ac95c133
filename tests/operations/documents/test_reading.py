"""Which files are read, and what is said of the others."""

import builtins
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.operations.documents import reading
from fourtier.operations.documents.errors import UnreadableDocumentError
from fourtier.operations.documents.reading import read_document
from fourtier.runtime.extras import MissingExtraError
from tests.operations.documents.pdf_files import pdf


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.txt", b"One.\n\nTwo.", ["One.", "Two."]),
        ("a.md", b"# One\n\nTwo.", ["# One\n\nTwo."]),
        ("a.HTML", b"<p>One.</p><p>Two.</p>", ["One.", "Two."]),
        ("a.htm", b"<p>One.</p>", ["One."]),
        ("a.pdf", pdf(["One."]), ["One."]),
    ],
)
def test_the_suffix_says_how_a_file_is_read(
    tmp_path: Path, name: str, content: bytes, wanted: list[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    document = read_document(file)
    assert list(document.blocks) == wanted
    assert document.name == file.as_posix()
    assert document.changed_at == datetime.fromtimestamp(1_000_000_000, UTC)


def test_what_no_store_takes_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"One\x00\x1b[2J\ttwo.\n\n\x07\n\nThree.")
    assert list(read_document(file).blocks) == ["One[2J\ttwo.", "Three."]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.docx", b"x", r"not known, there are \.txt, \.md, \.html, \.htm, \.pdf"),
        ("a", b"x", "not known"),
        ("a.txt", b" \n\n\x00", "is empty"),
        ("a.html", b"<script>x</script>", "is empty"),
        ("a.txt", b"\xff", "is not UTF-8 text"),
        ("a.txt", None, "cannot be opened: No such file or directory"),
    ],
)
def test_why_a_file_is_not_read(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UnreadableDocumentError, match=reason):
        read_document(file)


def test_a_directory_is_not_walked(tmp_path: Path) -> None:
    folder = tmp_path / "notes.md"
    folder.mkdir()
    with pytest.raises(
        UnreadableDocumentError, match=r"is a directory: name its files, as in .*md"
    ):
        read_document(folder)


def test_what_is_longer_than_any_document_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT", 2)
    file = tmp_path / "a.txt"
    file.write_text("One.\n\nTwo.\n\nThree.", "utf-8")
    with pytest.raises(UnreadableDocumentError, match="3 paragraphs, at most 2 are stored"):
        read_document(file)


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.html", "bs4")])
def test_a_missing_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    imports = builtins.__import__

    def without(wanted: str, *arguments: Any) -> Any:
        if wanted.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted)
        return imports(wanted, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    file = tmp_path / name
    file.write_bytes(b"x")
    with pytest.raises(MissingExtraError, match=rf"{package}: install fourtier\[documents\]"):
        read_document(file)
