"""An images job as people look at it: split by keyword and engine, and as documents of four levels, now and then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.schemas import validator
from conformance.bench import Bench, postgres_bench, sqlite_bench
from holdfast.clock import ManualClock
from holdfast.errors import BadParams
from holdfast.model.job import Job
from holdfast.model.record import Checkpoint
from holdfast.views.breakdown import breakdown_document
from holdfast.views.history import every_checkpoint
from holdfast.views.images.breakdown import FATES
from holdfast.views.levels import level_documents
from holdfast.views.resume import resume_answer
from views.images_ledger import ImagesLedger

BASE = {"id", "type", "status", "created_at", "updated_at", "metadata"}
FIELDS = {
    "job": {
        "job_id", "project_id", "keywords", "max_images", "total_chunks", "active_chunks", "completed_chunks",
        "failed_chunks", "task_ids",
    },
    "chunk": {
        "job_id", "task_id", "chunk_index", "keyword", "engines_queue", "target_images", "current_engine",
        "images_downloaded", "images_discovered_per_engine", "images_downloaded_per_engine", "variations_tried",
        "current_offset_ranges", "progress_percentage", "worker_metadata", "chunk_metadata",
        "error_type", "error_message", "traceback", "failed_engine", "failed_variation", "last_successful_offset",
        "retry_count", "previous_checkpoint_id", "reconciled", "reconciliation_time",
    },
    "engine": {
        "chunk_id", "engine_name", "keyword", "engine_config", "variations_queue", "variations_attempted",
        "current_variation", "current_offset", "images_discovered", "images_downloaded", "processing_metadata",
    },
    "download": {
        "engine_id", "keyword", "variation", "offset_range", "urls_discovered", "urls_attempted", "urls_completed",
        "urls_failed", "successful_downloads", "failed_downloads", "duplicates_found", "validation_results",
        "batch_statistics",
    },
}  # fmt: skip
PARTS = {
    "variations_attempted": {
        "variation_template", "formatted_query", "retry_count", "offset_start", "offset_end", "images_found",
        "images_downloaded", "processing_time", "status", "error_type", "error_message", "retry_strategy",
        "next_variation_to_try", "attempt_metadata",
    },
    "urls_discovered": {"url", "search_rank", "thumbnail_url", "source_page", "discovery_time"},
    "successful_downloads": {
        "url", "filename", "file_size", "download_duration", "final_path", "hash_value", "dimensions", "format",
    },
    "failed_downloads": {
        "url", "error_type", "error_message", "attempt_count", "last_attempt_time", "retry_scheduled",
    },
    "duplicates_found": {"url", "duplicate_of_filename", "hash_value", "detection_method", "similarity_score"},
    "validation_results": {"filename", "is_valid", "validation_errors", "dimensions", "format", "file_size"},
}  # fmt: skip
STATISTICS = {
    "discovered", "attempted", "completed", "failed", "duplicates", "rejected", "bytes", "duration_seconds",
    "average_download_duration", "success_rate",
}  # fmt: skip


@pytest.fixture(params=["sqlite", "postgres"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    clock = ManualClock()
    if request.param == "sqlite":
        made = sqlite_bench(tmp_path / "ledger.db", clock)
    else:
        made = postgres_bench(request.getfixturevalue("pg_schema_url"), clock)
    yield made
    made.close()


def level(pets: ImagesLedger, name: str, point: Checkpoint | None = None, **more: Any) -> list[dict[str, Any]]:
    return level_documents(pets.bench.ledger, fresh(pets), name, point=point, now_ms=0, **more)


def fresh(pets: ImagesLedger) -> Job:
    return pets.bench.ledger.job(pets.job.id)


def balanced(pets: ImagesLedger) -> dict[str, list[dict[str, Any]]]:
    """The three splits of the job as it stands, each of which must balance and sum to the same whole."""
    splits: dict[str, list[dict[str, Any]]] = {}
    counts = pets.bench.ledger.books(pets.job.id)[1]
    for by in ("keyword", "engine", "keyword,engine"):
        document = breakdown_document(pets.bench.ledger, fresh(pets), by)
        validator("breakdown").validate(document)
        splits[by] = document["groups"]
        for group in splits[by]:
            images = group["images"]
            assert images["discovered"] == sum(images[fate] for fate in FATES)
        assert sum(group["discovered"] for group in splits[by]) == counts.discovered
        assert sum(group["succeeded"] for group in splits[by]) == counts.succeeded
    totals = [
        {name: sum(group["images"][name] for group in groups) for name in ("discovered", "downloaded", *FATES)}
        for groups in splits.values()
    ]
    assert totals[0] == totals[1] == totals[2]
    return splits


def test_numbers_balance_by_keyword_and_engine_at_every_step(bench: Bench) -> None:
    """IMG-05, ux rule 2: at every instant of the work, in each group and in all of them together."""
    pets = ImagesLedger(bench)
    for _ in range(30):
        splits = balanced(pets)
        pets.work(1)
    images = {group["group"]: group["images"] for group in splits["keyword"]}
    assert set(images) == {"cat", "dodo"}
    for numbers in images.values():
        assert numbers["kept"] == numbers["wanted"] == 24
        assert min(numbers[name] for name in ("failed", "rejected", "duplicates", "surplus")) > 0
        assert (numbers["pending"], numbers["skipped"]) == (0, 0)
        assert numbers["downloaded"] >= numbers["kept"] + numbers["duplicates"]
    assert [(group["keyword"], group["engine"]) for group in splits["keyword,engine"] if group["group"]] == [
        ("cat", "bing"), ("cat", "google"), ("dodo", "bing"), ("dodo", "google"),
    ]  # fmt: skip


def test_documents_have_every_field_and_their_numbers_are_those_of_the_rows(bench: Bench) -> None:
    """IMG-02, IMG-03, IMG-09, IMG-10, CHK-07."""
    pets = ImagesLedger(bench, fails=("google",))
    pets.work()
    for name, fields in FIELDS.items():
        found = level(pets, name)
        assert found
        for document in found:
            assert fields | BASE <= set(document)
            assert document["type"] == name
            for part, columns in PARTS.items():
                assert all(columns == set(row) for row in document.get(part, ()))
    engines, downloads = level(pets, "engine"), level(pets, "download")
    seen = {part for document in (*engines, *downloads) for part in PARTS if document.get(part)}
    assert seen == set(PARTS), "each part occurs"
    assert all(set(document["batch_statistics"]) == STATISTICS for document in downloads)
    for document in downloads:
        numbers = document["batch_statistics"]
        assert numbers["discovered"] == len(document["urls_discovered"])
        assert numbers["attempted"] == len(document["urls_attempted"])
        assert numbers["completed"] == len(document["successful_downloads"]) == len(document["urls_completed"])
        assert numbers["failed"] == len(document["failed_downloads"])
        assert numbers["duplicates"] == len(document["duplicates_found"])
    urls = [row["url"] for document in downloads for row in document["urls_discovered"]]
    assert len(urls) == len(set(urls)) == sum(group["images"]["discovered"] for group in balanced(pets)["keyword"])
    bad = next(one for one in engines if one["engine_name"] == "google")["variations_attempted"][0]
    assert (bad["status"], bad["error_type"], bad["retry_strategy"]) == (
        "failed",
        "answer_unreadable",
        "next_variation",
    )
    assert bad["next_variation_to_try"]
    methods = {row["detection_method"]: row["similarity_score"] for one in downloads for row in one["duplicates_found"]}
    assert methods == {"content": 1.0, "perceptual": 1.0}
    invalid = [row for one in downloads for row in one["validation_results"] if not row["is_valid"]]
    assert {(tuple(row["validation_errors"]), tuple(row["dimensions"])) for row in invalid} == {
        (("too_small",), (90, 60))
    }
    assert "variations_queue" not in json.dumps(level(pets, "job")), "variations are the job's params, kept once"


def test_documents_as_of_a_checkpoint_are_what_they_were_then(bench: Bench) -> None:
    """CHK-04, CHK-07: read again at the end, after a retry has put the failed ones back."""
    pets = ImagesLedger(bench, per_keyword=9)
    then: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for _ in range(12):
        pets.work(1)
        newest = next(every_checkpoint(bench.ledger, pets.job.id))
        then[newest.number] = {name: plain(level(pets, name)) for name in FIELDS}
    bench.ledger.advance(pets.job.id, pets.worker.control)
    bench.ledger.reopen(pets.job.id, "retry", actor="user", because="again", where=[("status", True, ("failed",))])
    bench.ledger.walk(pets.job.id)
    points = {row.number: row.point for row in every_checkpoint(bench.ledger, pets.job.id)}
    assert len(then) >= 5
    for number, documents in then.items():
        for name, found in documents.items():
            assert plain(level(pets, name, points[number])) == found, (number, name)
    statuses = [tuple(one["status"] for one in documents["chunk"]) for documents in then.values()]
    assert (statuses[0], statuses[-1]) == (("in_progress",) * 2, ("completed",) * 2)


def plain(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """But for what tells of when a document speaks, and a job's own status, which is that of its row."""
    left_out = {"metadata", "previous_checkpoint_id"}
    return [
        {key: value for key, value in one.items() if key not in left_out and (one["type"], key) != ("job", "status")}
        for one in documents
    ]


def test_summary_chunks_and_keywords_answer_in_the_shapes_of_the_api(bench: Bench) -> None:
    """API-01, API-02, API-03. A chunk has more fields than a list of chunks is asked for."""
    pets = ImagesLedger(bench)
    pets.work(3)
    [summary] = level(pets, "summary")
    assert list(summary) == [
        "job_id", "status", "total_chunks", "active_chunks", "completed_chunks", "failed_chunks",
        "progress_percentage", "estimated_completion_time", "created_at", "updated_at",
    ]  # fmt: skip
    assert (summary["total_chunks"], summary["active_chunks"]) == (2, 2)
    chunks = level(pets, "chunk", status="in_progress")
    assert len(chunks) == 2
    assert all(row.keys() >= {
        "chunk_id", "task_id", "chunk_index", "keyword", "status", "progress_percentage", "images_downloaded",
        "target_images", "current_engine", "engines_queue", "created_at", "updated_at",
    } for row in chunks)  # fmt: skip
    assert chunks[0]["engines_queue"] == ["bing", "google"]
    assert level(pets, "chunk", status="completed") == []
    pets.work()
    assert {row["status"] for row in level(pets, "chunk")} == {"completed"}
    [cat, _] = level(pets, "keyword")
    assert set(cat) == {
        "keyword", "total_images_discovered", "total_images_downloaded", "engines_used", "engine_breakdown",
    }  # fmt: skip
    assert (cat["total_images_downloaded"], cat["engines_used"]) == (24, ["bing", "google"])
    parts = cat["engine_breakdown"].values()
    assert sum(each["images_discovered"] for each in parts) == cat["total_images_discovered"]
    assert sum(each["images_downloaded"] for each in parts) == 24
    assert all(each["variations_attempted"] and each["status"] == "completed" for each in parts)


def test_a_job_of_another_kind_has_no_levels(bench: Bench) -> None:
    worker = bench.working(pages=1)
    with pytest.raises(BadParams, match="has no documents by level"):
        level_documents(bench.ledger, bench.job(worker.job), "chunk", now_ms=0)
    pets = ImagesLedger(bench)
    with pytest.raises(BadParams, match="there is no level"):
        level(pets, "page")
    with pytest.raises(BadParams, match="there is no status"):
        level(pets, "chunk", status="done")


def test_a_resume_says_where_each_keyword_goes_on_and_estimates_only_what_it_knows(bench: Bench) -> None:
    """PAU-11."""
    pets = ImagesLedger(bench, keywords=("cat", "dodo", "eel"), per_keyword=60)
    pets.work(1)
    answer = resume_answer(bench.ledger, fresh(pets), strategy=None, now_ms=0)
    assert [row["keyword"] for row in answer["chunks_to_retry"]] == ["cat", "dodo", "eel"]
    assert answer["chunks_to_skip"] == []
    assert answer["estimated_remaining_time"] is None, "the first minute says little"
    pets.work(6)
    place = resume_answer(bench.ledger, fresh(pets), strategy=None, now_ms=0)["chunks_to_retry"][0]
    assert set(place) == {"task_id", "chunk_index", "keyword", "resume_from"}
    assert set(place["resume_from"]) == {"engine", "variation", "offset_ranges", "images_downloaded"}
    held = [one["images_downloaded"] for one in level(pets, "chunk")]
    assert place["resume_from"]["images_downloaded"] == held[0] > 0
    open_one = next(one for one in level(pets, "chunk") if one["keyword"] == "cat")
    assert place["resume_from"]["engine"] in ("bing", "google")
    assert open_one["status"] == "in_progress"
    early = resume_answer(bench.ledger, fresh(pets), strategy=None, now_ms=0)["estimated_remaining_time"]
    assert early is None, "images are kept, and the first minute is not over"
    bench.ledger.renew([pets.worker.control], life_s=30, active_ms=120_000)
    left_s = resume_answer(bench.ledger, fresh(pets), strategy=None, now_ms=0)["estimated_remaining_time"]
    assert left_s == round(sum(60 - kept for kept in held) * 120 / sum(held), 1), "the missing ones at the pace so far"
    pets.work()
    done = resume_answer(bench.ledger, fresh(pets), strategy="none", now_ms=0)
    assert (done["chunks_to_retry"], len(done["chunks_to_skip"]), done["chunks_completed"]) == ([], 3, 3)
    assert (done["resume_strategy"], done["chunks_active"]) == ("full", 3)
