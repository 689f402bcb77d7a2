"""Whether a fetched file is what it should be: by its length, its first and last bytes, and for a PDF by opening it.

A refusal has a failure code and a sentence. A PDF is opened in another process (`pdf_process`): a hostile file costs
that process its memory and time, never the crawl.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.recipes.documents.pdf_process import PdfLook
from holdfast.recipes.documents.sniffing import Sample, agrees, kind_of

PDF_BYTES_MIN = 1_024  # DOC-19
FILE_BYTES_MIN = 1
MALFORMED_PDF, UNREADABLE = "malformed_pdf", "answer_unreadable"
_HEADER_WITHIN = 1_024
_END_MARK = b"%%EOF"

LookAtPdf = Callable[[str], PdfLook]


class FileVerdict(msgspec.Struct, frozen=True):
    """`code` is "" for a file to keep. `kind` is what the bytes are; `pages` is known of a PDF that was opened."""

    kind: str
    code: str = ""
    message: str = ""
    pages: int | None = None

    @property
    def ok(self) -> bool:
        return not self.code


def check_file(sample: Sample, expected: str, *, path: str = "", look: LookAtPdf | None = None) -> FileVerdict:
    """Judge a file that should be of kind `expected` ("" takes any known or unknown kind but an HTML error page).

    `path` and `look` open a PDF; without them only its bytes are judged, which a file cut in the middle may pass when
    its last bytes look right.
    """
    found = kind_of(sample)
    if sample.size < FILE_BYTES_MIN:
        return FileVerdict(found, MALFORMED_PDF if expected == "pdf" else UNREADABLE, "the file is empty")
    if expected == "pdf":
        return _check_pdf(sample, found, path, look)
    if not expected and found == "html":
        return FileVerdict(found, UNREADABLE, "an HTML page came instead of a file")
    if not agrees(found, expected):
        return FileVerdict(found, UNREADABLE, f"the file should be {expected} and is {found or 'of no known kind'}")
    if found == "pdf":
        return _check_pdf(sample, found, path, look)
    return FileVerdict(found)


def _check_pdf(sample: Sample, found: str, path: str, look: LookAtPdf | None) -> FileVerdict:
    if found != "pdf":
        came = "an HTML page" if found == "html" else f"{found} bytes" if found else "something else"
        return FileVerdict(found, MALFORMED_PDF, f"{came} came instead of a PDF")
    if sample.size < PDF_BYTES_MIN:
        return FileVerdict(found, MALFORMED_PDF, f"a PDF of {sample.size} bytes; {PDF_BYTES_MIN} is the least")
    if _END_MARK not in sample.tail[-_HEADER_WITHIN:]:
        return FileVerdict(found, MALFORMED_PDF, "the PDF has no end: it was cut off")
    if look is None or not path:
        return FileVerdict(found)
    seen = look(path)
    if seen.error:
        return FileVerdict(found, MALFORMED_PDF, f"the PDF does not open: {seen.error}")
    return FileVerdict(found, pages=seen.pages)
