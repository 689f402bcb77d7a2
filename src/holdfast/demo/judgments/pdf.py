"""PDFs with real text, the same bytes for the same words. Written by hand: nothing in them depends on a library."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

LINES_PER_PAGE = 44
LINE_CHARS = 84


def write_pdf(title: str, paragraphs: Sequence[str]) -> bytes:
    """A document of as many pages as its text needs, in Helvetica on A4."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*wrap(paragraph, LINE_CHARS), ""]
    pages = [lines[at : at + LINES_PER_PAGE] for at in range(0, len(lines), LINES_PER_PAGE)]
    first = 5  # catalog, pages, font and info stand before them
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (" + _escaped(title) + b") /Producer (Registry) >>",
    ]
    for number, page in enumerate(pages):
        stream = _stream(page, number + 1, len(pages))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {first + 2 * number + 1} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream")
    return _assembled(objects)


def _stream(lines: Sequence[str], number: int, count: int) -> bytes:
    shown = b"".join(b"(" + _escaped(line) + b") Tj T*\n" for line in lines)
    footer = b"BT /F1 8 Tf 280 40 Td (" + f"Page {number} of {count}".encode() + b") Tj ET"
    return b"BT /F1 11 Tf 16 TL 60 780 Td\n" + shown + b"ET\n" + footer


def _escaped(text: str) -> bytes:
    encoded = text.encode("cp1252", "replace")
    return encoded.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _assembled(objects: Sequence[bytes]) -> bytes:
    """The objects with the table of where each begins."""
    made = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    starts: list[int] = []
    for number, written in enumerate(objects, start=1):
        starts.append(len(made))
        made += f"{number} 0 obj\n".encode() + written + b"\nendobj\n"
    table = b"".join(f"{start:010d} 00000 n \n".encode() for start in starts)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return made + f"xref\n0 {size}\n".encode() + b"0000000000 65535 f \n" + table + trailer.encode()
