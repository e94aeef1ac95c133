"""A document is named by its file, and found by what people type."""

from pathlib import Path

import pytest

from fourtier.operations.documents.names import (
    AmbiguousDocumentError,
    document_name,
    find_document,
    short_names,
)

KNOWN = ("/a/p1/README.md", "/a/p2/README.md", "/a/p2/notes.md", "handbook")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "p1"
    (project / "docs").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


@pytest.mark.parametrize(
    "typed", ["a.md", "./a.md", "docs/../a.md", "../p1/a.md", ".//a.md", "{here}/a.md"]
)
def test_however_a_file_is_typed_its_document_has_one_name(project: Path, typed: str) -> None:
    wanted = str(project.resolve() / "a.md")
    assert document_name(Path(typed.format(here=project))) == wanted
    assert find_document(typed.format(here=project), ["/b/a.md", wanted]) == wanted


def test_a_folder_that_is_linked_is_the_folder_itself(project: Path) -> None:
    (project / "linked").symlink_to(project / "docs")
    assert document_name(Path("linked/a.md")) == document_name(Path("docs/a.md"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("notes.md", "/a/p2/notes.md"),
        ("p1/README.md", "/a/p1/README.md"),
        ("./p2/README.md", "/a/p2/README.md"),
        ("/a/p2/README.md", "/a/p2/README.md"),
        ("handbook", "handbook"),
        ("book", None),
        ("otes.md", None),
        ("", None),
        (".", None),
    ],
)
def test_a_document_is_found_by_the_end_of_its_path(typed: str, meant: str | None) -> None:
    assert find_document(typed, KNOWN) == meant


def test_a_name_of_several_documents_is_refused_with_all_of_them() -> None:
    with pytest.raises(AmbiguousDocumentError, match=r"2 documents") as refused:
        find_document("README.md", KNOWN)
    assert KNOWN[0] in str(refused.value)
    assert KNOWN[1] in str(refused.value)
    assert find_document("README.md", [*KNOWN, "README.md"]) == "README.md"


def test_names_are_shown_as_shortly_as_they_differ() -> None:
    assert short_names(KNOWN, KNOWN) == {
        "/a/p1/README.md": "p1/README.md",
        "/a/p2/README.md": "p2/README.md",
        "/a/p2/notes.md": "notes.md",
        "handbook": "handbook",
    }
    others = ["/x.md", "/a/x.md", "x.md"]
    assert short_names(others, others) == {
        "/x.md": "/x.md",
        "/a/x.md": "a/x.md",
        "x.md": "x.md",
    }
