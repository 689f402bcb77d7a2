"""The download document: the URLs of one question, and what became of each (IMG-02, IMG-03)."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.clock import iso
from holdfast.recipes.images.facts import Named, Rejected
from holdfast.recipes.images.perceptual import HASH_BITS
from holdfast.views.images.chunk import began_at, metadata, offsets_of, touched_at
from holdfast.views.images.engine import engine_id
from holdfast.views.images.reading import GotImage, ImagesView, KeywordView, QuestionView, UrlView

_rejected = msgspec.json.Decoder(Rejected)


def download_document(view: ImagesView, keyword: KeywordView, question: QuestionView) -> dict[str, Any]:
    """Its URLs are those that it names first: every URL is in one document of its keyword."""
    urls, found_at = question.urls, iso(question.row.settled_at)
    rows = [question.row, *(url.download for url in urls if url.download is not None)]
    files = {url.named.url: got for url in urls if (got := url.got) is not None}
    attempted = [url for url in urls if url.download is not None and (url.download.attempts or url.was_downloaded)]
    failures = [url for url in attempted if _is_failure(url)]
    return {
        "id": f"T-{question.row.id:x}",
        "type": "download",
        "status": _status(question),
        "created_at": iso(began_at(view, rows)),
        "updated_at": iso(touched_at(view, rows)),
        "metadata": metadata(view, named=len(question.answer.candidates) if question.answer else 0),
        "engine_id": engine_id(keyword, question.asked.engine),
        "keyword": keyword.name,
        "variation": question.asked.query,
        "offset_range": offsets_of(question),
        "urls_discovered": [_discovered(url.named, found_at) for url in urls],
        "urls_attempted": [url.named.url for url in attempted],
        "urls_completed": list(files),
        "urls_failed": [url.named.url for url in failures],
        "successful_downloads": [_result(url, files[url.named.url]) for url in urls if url.named.url in files],
        "failed_downloads": [_failure(url) for url in failures],
        "duplicates_found": [_duplicate(keyword, url) for url in urls if url.fate == "duplicates"],
        "validation_results": [one for url in attempted if (one := _validation(url, files)) is not None],
        "batch_statistics": _statistics(urls, attempted, failures, files),
    }


def _status(question: QuestionView) -> str:
    if question.row.status == "failed":
        return "failed"
    if question.row.is_open and not question.row.attempts:
        return "pending"
    return "in_progress" if question.row.is_open or any(u.fate == "pending" for u in question.urls) else "completed"


def _is_failure(url: UrlView) -> bool:
    """Failed for good, or tried in vain and due to be tried again."""
    row = url.download
    return row is not None and (row.status == "failed" or (row.is_open and row.last_code is not None))


def _discovered(named: Named, found_at: str | None) -> dict[str, Any]:
    return {
        "url": named.url,
        "search_rank": named.rank,
        "thumbnail_url": named.thumbnail or None,
        "source_page": named.source_page or None,
        "discovery_time": found_at,
    }


def _result(url: UrlView, got: GotImage) -> dict[str, Any]:
    return {
        "url": url.named.url,
        "filename": _file(got),
        "file_size": got.size,
        "download_duration": url.download.seconds if url.download else None,
        "final_path": got.path,
        "hash_value": got.sha256,
        "dimensions": [got.width, got.height],
        "format": got.format,
    }


def _failure(url: UrlView) -> dict[str, Any]:
    row = url.download
    assert row is not None
    return {
        "url": url.named.url,
        "error_type": row.code or row.last_code,
        "error_message": row.because or row.message,
        "attempt_count": row.attempts,
        "last_attempt_time": iso(row.ended_at),
        "retry_scheduled": row.is_open,
    }


def _duplicate(keyword: KeywordView, url: UrlView) -> dict[str, Any]:
    """The rule names how it was recognised, how far apart the two are, and the kept one."""
    assert url.verdict is not None
    method, distance, first = (url.verdict.rule or "").split(" ", 2)
    kept = keyword.urls.get(first)
    got = url.got
    kept_got = kept.got if kept else got if method == "content" else None  # equal bytes have one name in all jobs
    return {
        "url": url.named.url,
        "duplicate_of_filename": _file(kept_got) if kept_got else None,
        "hash_value": got.sha256 if got else None,
        "detection_method": method,
        "similarity_score": round(1.0 - int(distance) / HASH_BITS, 4),
    }


def _validation(url: UrlView, files: dict[str, GotImage]) -> dict[str, Any] | None:
    """Of files that were looked at: whole images, and what was no good, which is not kept and has no name."""
    row, got = url.download, files.get(url.named.url)
    if got is not None:
        return _validated(_file(got), [], [got.width, got.height], got.format, got.size)
    if row is None or row.disposition != "rejected":
        return None
    errors = [each for each in (row.rule or "").split(",") if each]
    if not row.record:  # more bytes than are taken: it was not read to its end
        return _validated(None, errors, None, None, row.size)
    bad = _rejected.decode(row.record)
    return _validated(None, errors, [bad.width, bad.height] if bad.width else None, bad.format or None, bad.size)


def _validated(
    filename: str | None, errors: list[str], dimensions: list[int] | None, form: str | None, size: int
) -> dict[str, Any]:
    return {
        "filename": filename,
        "is_valid": not errors,
        "validation_errors": errors,
        "dimensions": dimensions,
        "format": form,
        "file_size": size,
    }


def _statistics(
    urls: list[UrlView], attempted: list[UrlView], failures: list[UrlView], files: dict[str, GotImage]
) -> dict[str, Any]:
    """IMG-03."""
    seconds = [url.download.seconds or 0.0 for url in attempted if url.download is not None]
    return {
        "discovered": len(urls),
        "attempted": len(attempted),
        "completed": len(files),
        "failed": len(failures),
        "duplicates": sum(1 for url in urls if url.fate == "duplicates"),
        "rejected": sum(1 for url in urls if url.fate == "rejected"),
        "bytes": sum(got.size for got in files.values()),
        "duration_seconds": round(sum(seconds), 3),
        "average_download_duration": round(sum(seconds) / len(seconds), 3) if seconds else None,
        "success_rate": round(len(files) / len(attempted), 4) if attempted else None,
    }


def _file(got: GotImage) -> str:
    """A file is known by its hash; friendly names are given by exports (IMG-08)."""
    return got.path.rpartition("/")[2]
