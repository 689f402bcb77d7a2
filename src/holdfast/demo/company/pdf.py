"""A small PDF that opens in any reader: a page per list of lines, in Helvetica. No dates: the bytes stay the same."""

from __future__ import annotations

from collections.abc import Sequence

LINE_POINTS = 18
TOP_POINTS = 780
LEFT_POINTS = 64


def write_pdf(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """The first line of a page is its heading. Text is Latin-1; anything else becomes a question mark."""
    kids = [4 + 2 * n for n in range(len(pages))]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % kid for kid in kids), len(kids)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for kid, lines in zip(kids, pages, strict=True):
        content = _content(lines)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (kid + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects.append(b"<< /Title (%s) >>" % _escaped(title))
    return _joined(objects)


def _content(lines: Sequence[str]) -> bytes:
    parts = []
    for n, line in enumerate(lines):
        size = 20 if n == 0 else 11
        at = TOP_POINTS - LINE_POINTS * (n + (1 if n else 0))
        parts.append(b"BT /F1 %d Tf %d %d Td (%s) Tj ET" % (size, LEFT_POINTS, at, _escaped(line)))
    return b"\n".join(parts)


def _escaped(text: str) -> bytes:
    raw = text.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _joined(objects: Sequence[bytes]) -> bytes:
    """With the table of where each object begins, by which readers find them; the last one is the title."""
    made = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, content in enumerate(objects, start=1):
        starts.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % start for start in starts)
    made += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return bytes(made + b"startxref\n%d\n%%%%EOF\n" % table)
