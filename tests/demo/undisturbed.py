"""What a crawl that nobody killed comes to: its report and its exports in every form, to hold others against."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.commands import holdfast
from demo.proof import Proof, proving
from holdfast.views.reports.versions import dated_report

FORMS = ("jsonl", "csv", "parquet", "zip", "warc.gz")
STABLE = ("--fields", "url,final_url,title,depth,status_code,fetched_at,content_type,sha256,bytes,links")
MADE = ("entities", "section", "report")  # targets that later phases make of pages
# Twenty kills in every phase: `asked` is while it crawls, `advance` between two phases, `settle` inside of one.
MANY = (
    *("asked",) * 6, "advance.before_commit:1", "advance.after_commit:1", "settle.after_commit:1",
    "settle.after_commit:3", "settle.before_commit:2", "settle.after_commit:2", "advance.before_commit:1",
    "advance.after_commit:1", "settle.after_commit:1", "settle.after_commit:1", "advance.after_commit:1",
    "settle.before_commit:1", "settle.after_commit:1", "advance.before_commit:1",
)  # fmt: skip


@dataclass(frozen=True)
class Undisturbed:
    """Others are served at its port, so that their pages are the same bytes."""

    port: int
    files: dict[str, bytes]
    report: dict[str, Any]


def undisturbed_run(world: str, folder: Path, options: tuple[str, ...]) -> Undisturbed:
    with proving(world, folder, options=options) as proof:
        proof.run(0)
        port = int(proof.world.address.rpartition(":")[2])
        return Undisturbed(port, exported(proof, folder), report_in(proof, folder))


def equals_undisturbed(proof: Proof, folder: Path, undisturbed: Undisturbed) -> None:
    assert report_in(proof, folder) == undisturbed.report
    files = exported(proof, folder)
    assert [name for name in undisturbed.files | files if files.get(name) != undisturbed.files.get(name)] == []


def exported(proof: Proof, folder: Path) -> dict[str, bytes]:
    """Every form of the results. Texts are derived for one of them only, which has every file of Markdown in it."""
    found: dict[str, bytes] = {}
    for form in FORMS:
        fields = STABLE if form in ("jsonl", "csv", "parquet") else ()
        words = ("export", proof.name, "-o", f"it.{form}", "--date", "2026-01-31", *fields, *proof.crawler.where)
        done = holdfast(*words, cwd=folder)
        assert done.code == 0, done.err
        found[form] = (folder / f"it.{form}").read_bytes()
    return found


def report_in(proof: Proof, folder: Path) -> dict[str, Any]:
    """The report but for when, and by which run."""
    done = holdfast("report", proof.name, "--format", "json", *proof.crawler.where, cwd=folder)
    assert done.code == 0, done.err
    return dated_report(json.loads(done.out), 0)
