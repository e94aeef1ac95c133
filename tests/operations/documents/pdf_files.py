"""Little PDF files, written by hand."""

from collections.abc import Sequence


def pdf(*pages: Sequence[str]) -> bytes:
    """A file with pages of lines; a page without lines is as a scan has it, without text."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        stream = _stream(lines)
        page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
        objects += [
            f"{page} /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    return _file(objects)


def _stream(lines: Sequence[str]) -> str:
    shown = [f"({line}) Tj 0 -14 Td" for line in lines]
    return "\n".join(["BT /F1 12 Tf 72 770 Td", *shown, "ET"]) if lines else ""


def _file(objects: Sequence[str]) -> bytes:
    content, offsets = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, 1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{each}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    return content + (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    ).encode("latin-1")
