"""A ledger in which every table of a job has rows, snapshots of it, and what a job is whatever its ids are."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from audit.stories import BOOT, MARSH, begun, verdict, won, write_story
from holdfast import wiring
from holdfast.blobs.shelf import SegmentShelf
from holdfast.clock import ManualClock
from holdfast.config import Settings
from holdfast.control import snapshot
from holdfast.control.restore import RestoreOptions, Snapshot
from holdfast.control.snapshot_file import restore_snapshot
from holdfast.control.tarball import TarReader, TarWriter
from holdfast.ledger.copies.portable import OF_A_JOB
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.artifact import Artifact
from holdfast.model.bookmark import Bookmark
from holdfast.model.job import Job, Phases
from holdfast.model.keys import seed_address
from holdfast.model.snapshot import MANIFEST, Manifest
from holdfast.ports import Ledger
from holdfast.recipe import Context

AT_MS = 1_800_000_000_000
JOBS = ("fen", "marsh", "pond", "bog", "weir", "tarn", "court", "report")
# What may differ in a copy: the salt makes keys and trails, hosts are rows of the ledger.
NOT_COMPARED = {"job", "key", "trail", "host"}
DOCUMENTS = {("checkpoint", "doc"), ("consumer", "cursor"), ("walk", "doc"), ("undo", "before")}


def sqlite_ledger(path: Path) -> SqliteLedger:
    return SqliteLedger.open(path, ManualClock(), BOOT)


def write_jobs(ledger: Ledger) -> dict[str, int]:
    """The audit's story, its dead workers' chunks freed, with labels, exclusions, readers, walks and named targets."""
    clock = ManualClock()
    jobs = {**write_story(ledger, clock), "court": _court(ledger, clock), "report": _report(ledger, clock)}
    for job in jobs.values():
        ledger.rescue(job, is_dead=lambda owner: True)
    marsh = jobs["marsh"]
    rows = ledger.targets(marsh)
    ledger.label(marsh, [rows[0].id, rows[1].id], "keep", actor="user")
    ledger.exclude(marsh, "/toad/*", actor="user")
    ledger.save_bookmark(marsh, "embed", Bookmark({rows[0].chunk: 2}, rows[0].chunk, 1))
    ledger.reopen(jobs["pond"], "rescan", actor="user", because="again")
    where = [("parent", False, (f"T-{rows[0].id:x}",)), ("chunk", True, (f"C-{rows[0].chunk:x}",))]
    ledger.request(marsh, "pause", actor="user", because="lunch")
    ledger.acknowledge(marsh, is_dead=lambda owner: True)
    ledger.reopen(marsh, "retry", where=where, actor="user", because="again")
    return jobs


def _court(ledger: Ledger, clock: ManualClock) -> int:
    """Targets that are known by a name, one of them with a record and no body."""
    worker = begun(ledger, clock, "court")
    context = Context(params={}, salt=ledger.salt(), chunking="host")
    names = [context.named(seed_address(f"{MARSH}/{n}"), type="case", name=f"IMM-{n}-25") for n in range(4)]
    worker.plan(*names)
    first, second, *_ = worker.claim(4)
    files = tuple(Artifact("pdf", f"pdfs/{n}.pdf", 9, bytes(range(32)), "application/pdf") for n in range(2))
    worker.settle(
        won(first, artifacts=files),
        verdict(second, "skip", disposition="no_record", because="no such case"),
        chunk=first.chunk,
    )
    return worker.job


def _report(ledger: Ledger, clock: ManualClock) -> int:
    """A job in its second phase, with a target that needs no host."""
    worker = begun(ledger, clock, "report")
    worker.plan(worker.found("https://report.test/"), done=True)
    [first] = worker.claim(1)
    worker.settle(won(first), chunk=first.chunk)
    [control] = worker.of_kind("control")
    worker.cursor = 0
    ledger.advance(worker.job, control, phases=Phases(("crawling", "extracting"), ("text",)))
    context = Context(params={}, salt=ledger.salt(), chunking="host")
    worker.plan(context.made("text/1", type="text"))
    return worker.job


def with_bodies(ledger: Ledger, job: int, folder: Path) -> SegmentShelf:
    """A shelf that holds the files which this job's rows refer to, and a little more."""
    for (name,) in ledger.query("SELECT name FROM segment WHERE job = ?", (job,)):
        file = folder / "segments" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode().ljust(1_000, b"."))
    return SegmentShelf(folder / "segments")


def taken(ledger: Ledger, job: int, shelf: SegmentShelf | None = None) -> bytes:
    """A snapshot's bytes."""
    file = io.BytesIO()
    snapshot.write(ledger, shelf, ledger.books(job)[0], file.write, at_ms=AT_MS)
    return file.getvalue()


def restored(ledger: Ledger, folder: Path, stored: bytes, **restore_options: Any) -> Job:
    return restore_snapshot(
        wiring.storage(Settings(data=folder)), ledger, Snapshot(io.BytesIO(stored)), RestoreOptions(**restore_options)
    )


def repacked(stored: bytes, change: Callable[[Manifest, dict[str, bytes]], Manifest]) -> bytes:
    """A snapshot that somebody made to deceive: every hash in it is right, what it says is not."""
    members = TarReader(io.BytesIO(stored))
    files = {name: b"".join(members.blocks(name)) for name in members.names}
    manifest = msgspec.json.decode(files.pop(MANIFEST), type=Manifest)
    manifest = change(manifest, files).sealed()
    out = io.BytesIO()
    packer = TarWriter(out.write)
    for name, content in {**files, MANIFEST: manifest.encoded()}.items():
        packer.add(name, len(content), [content])
    packer.end()
    return out.getvalue()


def image(ledger: Ledger, job: int) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a job with ids counted from the first of their table: equal for equal jobs, wherever they lie."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for shape in ledger.shapes():
        names = [column.name for column in shape.columns]
        rows, after = [], ()
        while after is not None:
            more, after = ledger.copy_out(job, shape, after=after, limit=7)
            rows += more
        tables[shape.table] = [dict(zip(names, row, strict=True)) for row in rows]
    first = {table: min(row["id"] for row in rows) for table, rows in tables.items() if rows and "id" in rows[0]}
    del tables["job"]
    return {table: sorted(map(repr, _compared(table, rows, first))) for table, rows in tables.items()}


def _compared(table: str, rows: list[dict[str, Any]], first: dict[str, int]) -> list[tuple[Any, ...]]:
    [ids] = [each.ids for each in OF_A_JOB if each.table == table]
    found = []
    for row in rows:
        values = {name: value for name, value in row.items() if name not in NOT_COMPARED and name != "checksum"}
        for column, other in ids.items():
            if values[column]:
                values[column] -= first[other]
        for column in values:
            if (table, column) in DOCUMENTS:
                values[column] = _document(msgspec.json.decode(values[column]), first)
        found.append(tuple(values.items()))
    return found


def _document(doc: dict[str, Any], first: dict[str, int]) -> dict[str, Any]:
    """Of the ids inside: commit vectors, the chunk that settled, a reader's chunk, a filter's parent and chunk."""
    doc = {name: value for name, value in doc.items() if name not in ("job", "previous", "checksum")}
    if "commits" in doc:
        doc["commits"] = {int(chunk) - first["chunk"]: no for chunk, no in doc["commits"].items()}
    for column in ("done_chunk", "inside"):
        if doc.get(column):
            doc[column] -= first["chunk"]
    if "where" in doc:
        tables = {"parent": "target", "chunk": "chunk"}
        doc["where"] = [
            (key, wanted, int(text.partition("-")[2], 16) - first[tables[key]]) for key, wanted, (text,) in doc["where"]
        ]
    return doc
