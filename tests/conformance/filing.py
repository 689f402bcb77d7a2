"""Files of targets: settled with them, found again by hash, undone with them (PER-15, F1)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from conformance.bench import Bench
from conformance.reopening import finished, reopen, walk_to_the_end
from conformance.verdicts import page, retry, succeed
from holdfast.model.artifact import Artifact, content_path
from holdfast.model.outcome import Batch, Record, Verdict
from holdfast.model.target import Claimed


def file_of(content: bytes, role: str = "pdf", path: str = "") -> Artifact:
    digest = sha256(content).digest()
    return Artifact(role, path or content_path(digest), len(content), digest, "application/pdf", "https://marsh.test/f")


def filed(here: Claimed, *contents: bytes, **more: Any) -> Verdict:
    files = tuple(file_of(content) for content in contents)
    return succeed(here, disposition="downloaded", records=(Record("file", b"{}"),), artifacts=files, **more)


class TestFiles:
    def test_files_are_settled_with_their_target_in_order(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = sorted(worker.claim(), key=lambda here: here.id)
        worker.settle(filed(first, b"one", b"two", b"three"), page(second))
        rows = bench.ledger.artifacts(worker.job)
        assert [(row.target, row.n, row.size) for row in rows] == [(first.id, 0, 3), (first.id, 1, 3), (first.id, 2, 5)]
        assert (rows[0].role, rows[0].media, rows[0].url, rows[0].job, rows[0].generation) == (
            "pdf", "application/pdf", "https://marsh.test/f", worker.job, 1,
        )  # fmt: skip
        assert rows[0].path == content_path(sha256(b"one").digest())
        assert [row.file for row in bench.ledger.results(worker.job)] == [rows[0].path, ""]

    def test_files_are_read_page_by_page(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = sorted(worker.claim(), key=lambda here: here.id)
        worker.settle(filed(first, b"one", b"two"), filed(second, b"three"))
        head = bench.ledger.artifacts(worker.job, limit=2)
        tail = bench.ledger.artifacts(worker.job, after=(head[-1].target, head[-1].n))
        assert [row.size for row in (*head, *tail)] == [3, 3, 5]

    def test_bytes_that_are_held_are_found_by_their_hash(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = sorted(worker.claim(), key=lambda here: here.id)
        worker.settle(filed(first, b"same"), filed(second, b"same", b"other"))
        found = bench.ledger.with_hash(sha256(b"same").digest())
        assert [(row.target, row.n) for row in found] == [(first.id, 0), (second.id, 0)]
        assert len({row.path for row in found}) == 1
        assert bench.ledger.with_hash(sha256(b"same").digest(), limit=1) == found[:1]
        assert bench.ledger.with_hash(sha256(b"same").digest(), job=worker.job) == found
        assert bench.ledger.with_hash(sha256(b"none").digest()) == []
        assert bench.ledger.with_hash(sha256(b"same").digest(), job=worker.job + 1) == []

    def test_a_batch_with_other_files_has_another_digest(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        digests = {
            Batch.freeze(chunk=1, epoch=1, no=1, worker="w", verdicts=(verdict,)).digest
            for verdict in (filed(here), filed(here, b"one"), filed(here, b"two"))
        }
        assert len(digests) == 3

    def test_files_of_before_are_served_until_a_target_is_settled_anew(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(filed(here, b"old", b"second"))
        finished(bench, worker)
        reopen(bench, worker.job, "rescan")
        walk_to_the_end(bench, worker.job)
        assert [row.generation for row in bench.ledger.artifacts(worker.job)] == [1, 1]
        again = bench.worker(worker.job)
        again.lease()
        [here] = again.claim()
        again.settle(filed(here, b"new"))
        assert [(row.generation, row.sha256) for row in bench.ledger.artifacts(worker.job)] == [
            (2, sha256(b"new").digest())
        ]
        assert len(bench.ledger.with_hash(sha256(b"old").digest())) == 1

    def test_a_try_that_failed_leaves_no_files(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        [here] = worker.claim()
        worker.settle(retry(here))
        assert bench.ledger.artifacts(worker.job) == []

    def test_a_rollback_takes_the_files_of_later_commits(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = sorted(worker.claim(), key=lambda here: here.id)
        point = worker.settle(filed(first, b"kept"), checkpoint="interval").checkpoint
        assert point is not None
        worker.settle(filed(second, b"one", b"two"))
        answer = bench.ledger.rollback(worker.job, point, actor="user", is_dead=bench.is_dead)
        assert answer.keeps_artifacts == 2
        assert [row.target for row in bench.ledger.artifacts(worker.job)] == [first.id]
        assert bench.ledger.with_hash(sha256(b"one").digest()) == []
