"""Views: what readers see, page by page, and by which names they find it."""

from __future__ import annotations

import pytest

from conformance.bench import MARSH, Bench
from conformance.verdicts import fail, page, retry, skip, succeed
from conformance.worker import Worker
from holdfast.errors import NotFound
from holdfast.model.bookmark import Bookmark
from holdfast.model.job import JobFilter
from holdfast.model.outcome import Record
from holdfast.policy.filters import parse


class TestFindingJobs:
    def test_a_job_is_found_by_id_name_or_the_beginning_of_its_id(self, bench: Bench) -> None:
        job = bench.submitted("marsh")
        for reference in (job.uid, "marsh", job.uid[:5]):
            assert bench.ledger.job(reference) == job

    def test_a_beginning_that_several_jobs_share_finds_none(self, bench: Bench) -> None:
        """Seventeen ids cannot all begin with another hex digit."""
        uids = [bench.submitted(f"marsh {n}").uid for n in range(17)]
        shared = next(uid[:3] for uid in uids if sum(other[:3] == uid[:3] for other in uids) > 1)
        with pytest.raises(NotFound):
            bench.ledger.job(shared)

    def test_a_job_that_is_not_there_is_not_found_and_the_message_says_what_is(self, bench: Bench) -> None:
        bench.submitted("marsh")
        with pytest.raises(NotFound, match="marsh"):
            bench.ledger.job("mash")

    def test_jobs_are_listed_in_the_order_of_submission(self, bench: Bench) -> None:
        names = ["pond", "marsh", "lake"]
        assert [bench.submitted(name).name for name in names] == names
        assert [job.name for job in bench.ledger.jobs()] == names

    def test_a_job_is_read_by_its_number(self, bench: Bench) -> None:
        job = bench.submitted("marsh")
        assert bench.ledger.job(job.id) == job == bench.ledger.books(job.id)[0]
        with pytest.raises(NotFound):
            bench.ledger.job(job.id + 1)

    def test_jobs_come_page_by_page(self, bench: Bench) -> None:
        jobs = [bench.submitted(f"marsh {n}") for n in range(5)]
        first = bench.ledger.jobs(limit=2)
        assert first + bench.ledger.jobs(after=first[-1].id) == jobs
        assert bench.ledger.jobs(after=jobs[-1].id) == []

    def test_jobs_are_filtered_by_their_fields(self, bench: Bench) -> None:
        marsh, pond = bench.submitted("marsh"), bench.submitted("pond")
        bench.ledger.move(pond.id, "start", actor="test", because="test")
        every = bench.ledger.jobs
        assert every(where=JobFilter(name="marsh")) == every(where=JobFilter(identity=marsh.identity)) == [marsh]
        assert every(where=JobFilter(uid=marsh.uid, status="pending")) == [marsh]
        assert [job.name for job in every(where=JobFilter(status="in_progress", recipe=pond.recipe))] == ["pond"]
        assert every(where=JobFilter(name="marsh", status="paused")) == []

    def test_an_owner_finds_only_jobs_of_its_own(self, bench: Bench) -> None:
        """Another owner's job is not there, by whatever it is asked for; names are unique among those of one owner."""
        frogs, newts = bench.submitted("marsh", owner="frogs"), bench.submitted("marsh", owner="newts")
        assert (bench.ledger.job("marsh", owner="frogs"), bench.ledger.job("marsh", owner="newts")) == (frogs, newts)
        assert bench.ledger.jobs(owner="newts") == [newts]
        assert bench.ledger.jobs() == [frogs, newts]
        for reference in (frogs.id, frogs.uid, frogs.uid[:8]):
            assert bench.ledger.job(reference, owner="frogs") == frogs
            with pytest.raises(NotFound):
                bench.ledger.job(reference, owner="newts")


class TestTargets:
    def test_targets_come_page_by_page_in_the_order_of_their_ids(self, bench: Bench) -> None:
        worker = bench.working(pages=5)
        first = bench.ledger.targets(worker.job, limit=2)
        rest = bench.ledger.targets(worker.job, after=first[-1].id)
        ids = [row.id for row in first + rest]
        assert (len(first), len(rest)) == (2, 3)
        assert ids == sorted(ids)

    @pytest.mark.parametrize(
        ("where", "count"),
        [
            ("status:succeeded", 1),
            ("status:pending,failed", 2),
            ("-status:failed", 2),
            ("code:http_404", 1),
            ("-code:http_404", 2),
            ("url:*/frog/2", 1),
            ("url:*/FROG/2", 0),
            ("host:marsh.test attempts:>0", 2),
            ("depth:<1 status:succeeded", 1),
            ("depth:>=1", 0),
            ("disposition:page", 1),
        ],
    )
    def test_targets_are_filtered(self, bench: Bench, where: str, count: int) -> None:
        worker = bench.working(pages=3)
        first, second = worker.claim(room=2)
        worker.settle(succeed(first), fail(second))
        assert len(bench.ledger.targets(worker.job, where=parse(where))) == count

    def test_a_target_is_found_by_its_id(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        wanted = bench.ledger.targets(worker.job)[1]
        for where in (f"id:T-{wanted.id:x}", f"-id:T-{wanted.id:x}"):
            found = {row.id for row in bench.ledger.targets(worker.job, where=parse(where))}
            assert (wanted.id in found, len(found)) == ((True, 1) if where[0] != "-" else (False, 2))

    def test_a_job_shows_only_its_own_targets(self, bench: Bench) -> None:
        workers = [bench.working(pages=pages, name=f"marsh {pages}") for pages in (1, 2)]
        assert [len(bench.targets(worker.job)) for worker in workers] == [1, 2]


class TestPages:
    def test_pages_are_the_succeeded_targets_with_their_parents(self, bench: Bench) -> None:
        worker = with_three_pages(bench)
        rows = bench.ledger.pages(worker.job)
        assert {(row.url, row.parent_url) for row in rows} == {
            (f"{MARSH}/frog/1", None),
            (f"{MARSH}/a", f"{MARSH}/frog/1"),
            (f"{MARSH}/b", f"{MARSH}/frog/1"),
        }

    def test_pages_come_page_by_page(self, bench: Bench) -> None:
        worker = with_three_pages(bench)
        first = bench.ledger.pages(worker.job, limit=2)
        rest = bench.ledger.pages(worker.job, after=first[-1].target)
        assert [len(first), len(rest)] == [2, 1]
        assert not {row.target for row in first} & {row.target for row in rest}

    def test_a_failed_target_is_no_page(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(fail, worker.claim()))
        assert bench.ledger.pages(worker.job) == []


class TestResults:
    def test_results_are_every_record_of_succeeded_targets(self, bench: Bench) -> None:
        worker = bench.working(pages=3)
        first, second, third = sorted(worker.claim(room=3), key=lambda each: each.id)
        frogs = (Record("frog", b'{"n":1}'), Record("frog", b'{"n":2}'))
        worker.settle(succeed(first, records=frogs), page(second), fail(third))
        rows = bench.ledger.results(worker.job)
        assert [(row.target, row.n, row.kind, row.record) for row in rows] == [
            (first.id, 0, "frog", b'{"n":1}'),
            (first.id, 1, "frog", b'{"n":2}'),
            (second.id, 0, "page", b'{"title":"Frogs"}'),
        ]
        assert [bool(row.segment) for row in rows] == [False, False, True]
        assert rows[0].key == first.key

    def test_results_come_page_by_page_also_within_a_target(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        frogs = tuple(Record("frog", b"{}") for _ in range(3))
        worker.settle(*(succeed(each, records=frogs) for each in worker.claim(room=2)))
        seen: list[tuple[int, int]] = []
        while rows := bench.ledger.results(worker.job, after=seen[-1] if seen else (0, -1), limit=2):
            seen += [(row.target, row.n) for row in rows]
        assert len(seen) == 6
        assert seen == sorted(set(seen))

    def test_results_are_filtered_like_targets(self, bench: Bench) -> None:
        worker = with_three_pages(bench)
        rows = bench.ledger.results(worker.job, where=parse("depth:>0 -url:*/b"))
        assert [row.url for row in rows] == [f"{MARSH}/a"]


class TestEnded:
    def test_targets_come_once_when_they_have_come_to_their_end(self, bench: Bench) -> None:
        """ux 5.1: `target.*` from attempt rows; a try that is repeated is no end."""
        worker = bench.working(pages=4)
        before = bench.ledger.everything(worker.job)
        first, second, third, fourth = worker.claim()
        worker.settle(page(first), fail(second))
        worker.settle(skip(third), retry(fourth))
        rows, mark = bench.ledger.ended(worker.job, before)
        told = {(row.target, row.outcome, row.disposition is not None, row.code is not None) for row in rows}
        assert told == {
            (first.id, "succeeded", True, False),
            (second.id, "failed", False, True),
            (third.id, "skipped", True, False),
        }
        assert {row.url for row in rows} == {first.url, second.url, third.url}
        assert bench.ledger.ended(worker.job, mark) == ([], mark)
        assert mark == bench.ledger.everything(worker.job)


class TestStreams:
    """Results in the order of their commits, and the bookmarks of those who read them so."""

    def test_everything_is_read_once_however_it_comes(self, bench: Bench) -> None:
        worker = bench.worker(bench.started().id)
        worker.lease()
        worker.enqueue(*(bench.found(f"{MARSH}/frog/{n}", index=n % 4) for n in range(9)))
        mark, seen = Bookmark(), []
        while claimed := worker.claim(room=2):
            worker.settle(*map(page, claimed))
            rows, mark = bench.ledger.fresh(worker.job, mark)
            seen += [row.row.target for row in rows]
        assert len(seen) == len(set(seen)) == 9
        assert bench.ledger.fresh(worker.job, mark) == ([], mark)

    def test_nothing_is_read_before_its_commit_and_nothing_that_failed(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        first, second = worker.claim(room=2)
        assert bench.ledger.fresh(worker.job, Bookmark())[0] == []
        worker.settle(page(first), fail(second))
        assert [each.row.target for each in bench.ledger.fresh(worker.job, Bookmark())[0]] == [first.id]

    def test_one_may_stop_inside_a_commit(self, bench: Bench) -> None:
        worker = bench.working(pages=4)
        worker.settle(*(succeed(each, records=(Record("frog", b"1"), Record("frog", b"2"))) for each in worker.claim()))
        rows, end = bench.ledger.fresh(worker.job, Bookmark())
        assert len(rows) == 8
        for at, row in enumerate(rows):
            rest, behind = bench.ledger.fresh(worker.job, Bookmark().after(row))
            assert rest == rows[at + 1 :]
            assert behind == end

    def test_a_bookmark_is_kept_by_name_and_never_goes_back(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        while claimed := worker.claim(room=1):
            worker.settle(*map(page, claimed))
        ledger, job = bench.ledger, worker.job
        rows, end = ledger.fresh(job, Bookmark())
        half = Bookmark().after(rows[0])
        assert ledger.bookmark(job, "embed") == Bookmark()
        assert ledger.save_bookmark(job, "embed", half) == half
        assert ledger.save_bookmark(job, "embed", end) == end
        assert ledger.save_bookmark(job, "embed", half) == end
        assert bench.open().bookmark(job, "embed") == end
        assert ledger.bookmark(job, "other") == Bookmark()

    def test_streams_are_filtered_like_targets(self, bench: Bench) -> None:
        worker = with_three_pages(bench)
        rows, _ = bench.ledger.fresh(worker.job, Bookmark(), where=parse("depth:>0 -url:*/b"))
        assert [each.row.url for each in rows] == [f"{MARSH}/a"]

    def test_a_bookmark_inside_a_commit_means_the_same_under_another_filter(self, bench: Bench) -> None:
        worker = bench.working(pages=4)
        worker.settle(*map(page, worker.claim()))
        every, _ = bench.ledger.fresh(worker.job, Bookmark())
        some, _ = bench.ledger.fresh(worker.job, Bookmark(), where=parse(f"-url:{every[0].row.url}"))
        assert (len(every), len(some)) == (4, 3)
        for row in some:
            rest, _ = bench.ledger.fresh(worker.job, Bookmark().after(row))
            assert rest == every[every.index(row) + 1 :]

    def test_behind_everything_comes_only_what_is_committed_later(self, bench: Bench) -> None:
        worker = bench.working(pages=4)
        worker.settle(*map(page, worker.claim(room=2)))
        mark = bench.ledger.everything(worker.job)
        assert bench.ledger.fresh(worker.job, mark)[0] == []
        later = worker.claim()
        worker.settle(*map(page, later))
        rows, _ = bench.ledger.fresh(worker.job, mark)
        assert sorted(each.row.target for each in rows) == sorted(each.id for each in later)


class TestHistory:
    def test_events_are_in_the_order_of_time_and_only_of_their_job(self, bench: Bench) -> None:
        bench.started("pond")
        worker = bench.working(pages=1)
        bench.clock.advance(1)
        worker.release()
        events = bench.ledger.history(worker.job)[0]
        assert [event.at for event in events] == sorted(event.at for event in events)
        assert [event.verb for event in events].count("submit") == 1

    def test_without_a_target_there_are_no_attempts(self, bench: Bench) -> None:
        worker = bench.working(pages=1)
        worker.settle(*map(succeed, worker.claim()))
        assert bench.ledger.history(worker.job)[1] == []


class TestConnections:
    def test_a_second_connection_sees_what_the_first_one_committed(self, bench: Bench) -> None:
        worker = bench.working(pages=2)
        worker.settle(*map(succeed, worker.claim(room=1)))
        other = bench.open()
        assert other.books(worker.job) == bench.ledger.books(worker.job)
        assert other.salt() == bench.ledger.salt()

    def test_a_reopened_ledger_goes_on_where_it_was(self, bench: Bench) -> None:
        """FRO-01."""
        worker = bench.working(pages=2)
        worker.settle(*map(succeed, worker.claim(room=1)))
        bench.reopen()
        worker.ledger = bench.ledger
        worker.settle(*map(succeed, worker.claim()))
        assert bench.counts(worker.job)["succeeded"] == 2


def with_three_pages(bench: Bench) -> Worker:
    worker = bench.working(pages=1)
    [seed] = worker.claim()
    worker.settle(page(seed, found=(bench.found(f"{MARSH}/a", depth=1), bench.found(f"{MARSH}/b", depth=1))))
    worker.settle(*map(page, worker.claim()))
    return worker
