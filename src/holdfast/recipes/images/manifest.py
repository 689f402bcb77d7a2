"""The manifest of an images job: one row for each URL that was seen, and the file that came of it (IMG-08).

A file is known by its content hash. Friendly names are given when a manifest is written, in the order of judging, so
that the same job gives the same names whenever it is exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from holdfast.recipes.images.duplicates import Judgement
from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.plan import Question
from holdfast.recipes.images.validation import EXTENSIONS, Validation

NUMBER_DIGITS = 4
FOLDER_BYTES_MAX = 80  # a file system takes 255, and something may be added
_UNSAFE = frozenset('<>:"/\\|?*')


class ManifestRow(msgspec.Struct, frozen=True):
    """Every field of IMG-02's URL, result, failure, duplicate and validation documents that outlives a run."""

    keyword: str
    url: str
    disposition: str  # image duplicate rejected surplus failed
    order: int  # of judging
    engine: str
    variation: str
    query: str
    offset: int
    search_rank: int
    source_page: str = ""
    thumbnail_url: str = ""
    title: str = ""
    filename: str = ""  # of the kept image; for a duplicate that of the image it is a duplicate of
    sha256: str = ""
    phash: str = ""
    file_size: int | None = None
    width: int | None = None
    height: int | None = None
    format: str = ""
    validation_errors: tuple[str, ...] = ()
    duplicate_of: str = ""  # the URL of the kept image
    detection_method: str = ""
    distance: int | None = None
    similarity_score: float | None = None
    error_type: str = ""
    error_message: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self) | {"validation_errors": list(self.validation_errors)}


def row_of(
    question: Question,
    candidate: Candidate,
    order: int,
    judgement: Judgement,
    *,
    sha256: str = "",
    found: Validation | None = None,
) -> ManifestRow:
    """The row of a candidate that was judged. One that failed or was never fetched has no `found`."""
    row = ManifestRow(
        keyword=question.keyword,
        url=candidate.url,
        disposition=judgement.disposition,
        order=order,
        engine=question.engine,
        variation=question.template,
        query=question.query,
        offset=question.offset,
        search_rank=candidate.rank,
        source_page=candidate.source_page,
        thumbnail_url=candidate.thumbnail,
        title=candidate.title,
        sha256=sha256,
        validation_errors=judgement.reasons,
        duplicate_of=judgement.duplicate_of,
        detection_method=judgement.detection_method,
        distance=judgement.distance,
        similarity_score=judgement.similarity_score,
    )
    return row if found is None else _measured(row, found)


def named(rows: Iterable[ManifestRow]) -> Iterator[ManifestRow]:
    """The rows of one keyword in the order of judging, with `red panda/0001.jpg` for each kept image.

    Kept images come before their duplicates, so one pass is enough; it remembers one name per kept image.
    """
    names: dict[str, str] = {}
    for row in rows:
        if row.disposition == "image":
            number = f"{len(names) + 1:0{NUMBER_DIGITS}d}"
            names[row.url] = f"{folder_of(row.keyword)}/{number}.{EXTENSIONS.get(row.format, 'bin')}"
        yield replace(row, filename=names.get(row.duplicate_of or row.url, ""))


def folder_of(keyword: str) -> str:
    """A name that every file system takes. Two keywords that come out alike differ by what the caller adds."""
    plain = "".join("_" if letter in _UNSAFE or not letter.isprintable() else letter for letter in keyword)
    return plain.strip(". ").encode()[:FOLDER_BYTES_MAX].decode(errors="ignore").strip(". ") or "_"


def _measured(row: ManifestRow, found: Validation) -> ManifestRow:
    return replace(
        row,
        file_size=found.size_bytes,
        width=found.width or None,
        height=found.height or None,
        format=found.format,
        phash="" if found.phash is None else f"{found.phash:016x}",
    )
