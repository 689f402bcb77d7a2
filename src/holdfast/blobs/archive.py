"""WARC files for others: a warcinfo record, then the stored pages as gzip members, in the order of their URLs.

Nothing of this computer gets into one: no file name, no writer, no order of arrival, no time but that of the fetch.
With a date of one's own (`dated_ms`) not even that, so that two crawls of the same answers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path

from holdfast.blobs.segments import Segments
from holdfast.blobs.spill import ROWS_PER_RUN, in_order
from holdfast.blobs.warc import info_member, redated
from holdfast.model.job import Job
from holdfast.model.outcome import BodyRef

Page = tuple[str, BodyRef]


class WarcArchive:
    """Fulfils ports.Archive. `folder` takes what does not fit into memory while the pages are put in order."""

    def __init__(
        self,
        segments: Segments,
        folder: Path,
        *,
        software: str,
        dated_ms: int | None = None,
        rows_per_run: int = ROWS_PER_RUN,
    ) -> None:
        self._segments, self._folder, self._software = segments, folder, software
        self._dated_ms, self._rows_per_run = dated_ms, rows_per_run

    def write(self, job: Job, pages: Iterable[Page], write: Callable[[bytes], object]) -> int:
        """Copied by reference, each checked against its hash: a damaged page stops the export."""
        at = job.created_at if self._dated_ms is None else self._dated_ms
        write(info_member({"software": self._software, "format": "WARC File Format 1.1", "isPartOf": job.name}, at))
        written = 0
        ordered = in_order(pages, self._folder, kind=Page, key=itemgetter(0), rows_per_run=self._rows_per_run)
        for _, reference in ordered:
            stored = self._segments.raw_member(reference)
            write(stored if self._dated_ms is None else redated(stored, reference, self._dated_ms))
            written += 1
        return written
