"""`fourtier import` of documents: what is sent, what is said, and files that cannot be imported."""

import builtins
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fourtier.runtime.errors import PermanentError
from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.archive import (
    LIST_DOCUMENTS,
    STORE_DOCUMENT,
    ListDocumentsRequest,
    ListDocumentsResponse,
    StoreDocumentRequest,
    StoreDocumentResponse,
)
from fourtier.schema.conversations import DIALOGUE_RECORDED
from tests.interfaces.cli.support import Command
from tests.operations.documents.pdf_files import pdf

IMPORT = ("import", "--user", "ann", "--collection", "work")
TURN = {
    "conversation_id": "c1",
    "user": "ann",
    "speaker": "Ann",
    "timestamp": "2026-03-01T10:00:00+00:00",
    "content": "I live in Oslo.",
}


class Archive:
    """Stands in for the service; `parts` has what it was sent, `known` names of documents."""

    def __init__(self) -> None:
        self.parts: list[StoreDocumentRequest] = []
        self.known: tuple[str, ...] = ()

    def documents(self) -> Route:
        async def list_documents(_: ListDocumentsRequest) -> ListDocumentsResponse:
            return ListDocumentsResponse(documents=self.known, total=len(self.known))

        return call_route(LIST_DOCUMENTS, list_documents)

    def route(self) -> Route:
        async def store(part: StoreDocumentRequest) -> StoreDocumentResponse:
            if "rejected" in part.document:
                raise PermanentError("the archive is full")
            self.parts.append(part)
            is_last = part.first + len(part.blocks) == part.total
            return StoreDocumentResponse(
                redacted={"credential": 1, "iban": 2} if "secret" in part.document else {},
                stored=len(part.blocks) - 1,
                unchanged=0,
                not_stored=1,
                deleted=3 * is_last,
            )

        return call_route(STORE_DOCUMENT, store)


@pytest.fixture
def archive(fourtier: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    archive = Archive()
    fourtier.routes = [archive.route(), archive.documents()]
    monkeypatch.chdir(tmp_path)
    return archive


def test_a_document_is_sent_in_parts_with_its_name_and_its_time(
    fourtier: Command, archive: Archive
) -> None:
    paragraphs = [f"Paragraph {number}." for number in range(150)]
    file = Path("notes.txt")
    file.write_text("\n\n".join(paragraphs), "utf-8")

    assert fourtier(*IMPORT, "./notes.txt") == 0

    assert [text for part in archive.parts for text in part.blocks] == paragraphs
    assert [(part.first, part.total) for part in archive.parts] == [(0, 150), (64, 150), (128, 150)]
    assert {(part.user, part.collection, part.document) for part in archive.parts} == {
        ("ann", "work", str(file.absolute()))
    }
    changed_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    assert {part.timestamp for part in archive.parts} == {changed_at}
    assert len({part.version for part in archive.parts}) == 1
    assert "notes.txt: 147 blocks stored, 0 unchanged, 3 deleted, 3 not stored" in fourtier.said


def test_every_kind_is_imported_and_dialogue_with_them(fourtier: Command, archive: Archive) -> None:
    Path("a.txt").write_text("One.", "utf-8")
    Path("b.md").write_text("# Two\n\nThree.", "utf-8")
    Path("c.html").write_text("<p>Four.</p>", "utf-8")
    Path("d.pdf").write_bytes(pdf(["Five."]))
    Path("e.jsonl").write_text(f"{json.dumps(TURN)}\nno\n", "utf-8")

    assert fourtier(*IMPORT, "a.txt", "b.md", "c.html", "d.pdf", "e.jsonl") == 1

    assert {Path(part.document).name: list(part.blocks) for part in archive.parts} == {
        "a.txt": ["One."],
        "b.md": ["# Two\n\nThree."],
        "c.html": ["Four."],
        "d.pdf": ["Five."],
    }
    assert fourtier.bus.published.count(DIALOGUE_RECORDED.name) == 1
    assert "e.jsonl: 1 message imported, 1 bad line." in fourtier.out
    assert "e.jsonl: line 2: " in fourtier.err


def test_files_that_cannot_be_imported_are_named_and_the_others_are(
    fourtier: Command, archive: Archive
) -> None:
    contents = {
        "a.docx": b"x",
        "empty.txt": b"\n",
        "latin.txt": b"\xff",
        "broken.pdf": b"%PDF-1.4",
        "scan.pdf": pdf([]),
        "rejected.txt": b"Text.",
        "good.txt": b"Text.",
    }
    for name, content in contents.items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()

    assert fourtier(*IMPORT, *contents, "folder", "none.md", "none.jsonl", "x" * 600 + ".txt") == 1

    assert [Path(part.document).name for part in archive.parts] == ["good.txt"]
    for said in (
        "a.docx: is of a kind that is not known, there are .txt, .md, .html, .htm, .pdf",
        "empty.txt: is empty",
        "latin.txt: is not UTF-8 text",
        "broken.pdf: cannot be read as a PDF",
        "scan.pdf: has no text, only pictures of it",
        "rejected.txt: archive.store: the archive is full",
        "folder: is a directory",
        "none.md: cannot be opened: No such file or directory",
        "none.jsonl: cannot be opened: No such file or directory",
        "xx.txt: cannot be opened: File name too long",
    ):
        assert said in fourtier.said
    assert "good.txt: " in fourtier.out


def test_a_missing_package_names_the_extra_and_the_others_go_on(
    fourtier: Command, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = builtins.__import__

    def without(wanted: str, *arguments: Any, **more: Any) -> Any:
        if wanted.partition(".")[0] == "pypdf":
            raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted)
        return imports(wanted, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    Path("a.pdf").write_bytes(pdf(["One."]))
    Path("b.txt").write_text("Two.", "utf-8")
    assert fourtier(*IMPORT, "a.pdf", "b.txt") == 1
    assert "a.pdf: this needs the package pypdf: install fourtier[documents]" in fourtier.said
    assert [Path(part.document).name for part in archive.parts] == ["b.txt"]


def test_a_name_that_acts_on_the_terminal_is_shown(fourtier: Command, archive: Archive) -> None:
    names = ["a\x1b[2J.txt", "[red]b.txt"]
    for name in names:
        Path(name).write_text("One.", "utf-8")
    assert fourtier(*IMPORT, *names, "c\x1b[2J.txt") == 1
    assert "\x1b[2J" not in fourtier.out + fourtier.err
    assert fourtier.out.count("[red]b.txt") == 2
    assert [Path(part.document).name for part in archive.parts] == names


def test_pages_without_text_are_named_and_the_others_are_stored(
    fourtier: Command, archive: Archive
) -> None:
    Path("half.pdf").write_bytes(pdf(["One."], [], ["Three."], ["Four."], []))
    Path("whole.pdf").write_bytes(pdf(["One."]))
    assert fourtier(*IMPORT, "half.pdf", "whole.pdf") == 1
    assert "half.pdf: pages 2 and 5 have no text: scanned?" in fourtier.err
    assert "whole.pdf: p" not in fourtier.err
    assert [list(part.blocks) for part in archive.parts] == [["One.", "Three.", "Four."], ["One."]]
    assert fourtier(*IMPORT, "whole.pdf") == 0


@pytest.mark.usefixtures("archive")
def test_what_was_taken_out_is_counted(fourtier: Command) -> None:
    Path("secret.txt").write_text("\n\n".join(map(str, range(150))), "utf-8")
    Path("plain.txt").write_text("One.", "utf-8")
    said = [TURN | {"content": f"My PIN is {number}"} for number in ("4711", "4712", "1 of 3")]
    Path("said.jsonl").write_text("\n".join(map(json.dumps, said)), "utf-8")
    assert fourtier(*IMPORT, "secret.txt", "plain.txt", "said.jsonl") == 0
    assert "secret.txt: taken out, and not stored: credential (3), iban (6)" in fourtier.out
    assert "said.jsonl: taken out, and not stored: credential (2)" in fourtier.out
    assert "plain.txt: taken out" not in fourtier.out
