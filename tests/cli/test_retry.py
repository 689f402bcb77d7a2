"""`holdfast retry`: exactly the failed targets that a filter shows, queued again and worked (C10, TGT-07, JOB-03)."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import Done, crawl_words, holdfast, ledger_in, put_into, submit
from cli.schemas import validator
from cli.worked import CODES, failed_urls, write_many_failed
from holdfast.demo.serving import WorldServer
from holdfast.model.states import JOB
from holdfast.testing.fake_web import FakeWeb

MANY = 2_300  # three slices


@pytest.fixture
def moody(tmp_path: Path) -> Iterator[WorldServer]:
    """A tree whose pages under /p/2 fail the first time they are asked for."""
    with WorldServer("tree", pages=60, delay_ms=0, log_path=tmp_path / "requests.jsonl") as world:
        world.set_faults(unavailable_first=1, under="/p/2")
        yield world


def crawled(world: WorldServer, folder: Path) -> Done:
    return holdfast(*crawl_words(world, "--max-attempts", "1"), cwd=folder)


def listed(folder: Path, where: str) -> set[str]:
    rows = holdfast("targets", "frogs", "--where", where, "--json", cwd=folder).json()["targets"]
    return {row["url"] for row in rows}


def test_a_retry_works_the_failed_targets_and_verify_stays_clean(moody: WorldServer, tmp_path: Path) -> None:
    assert crawled(moody, tmp_path).code == 3
    failed = listed(tmp_path, "status:failed")
    assert failed
    done = holdfast("retry", "frogs", cwd=tmp_path)
    assert done.code in (0, 3), done.err  # what was found only now fails its own first time
    assert f"Queued {len(failed)} failed targets of frogs again." in done.err
    assert failed <= listed(tmp_path, "status:succeeded")
    while listed(tmp_path, "status:failed"):
        assert holdfast("retry", "frogs", cwd=tmp_path).code in (0, 3)
    assert len(listed(tmp_path, "status:succeeded")) == 60
    verified = holdfast("verify", "frogs", "--deep", cwd=tmp_path)
    assert verified.code == 0, verified.out + verified.err


@pytest.mark.parametrize(
    "where",
    [
        "status:failed",
        "code:http_403",
        "code:http_403,http_404 -url:*7",
        'url:"https://marsh.test/frog/1*" depth:>0',
        "settled:<2h attempts:1",
        "status:succeeded",
        "bytes:>1 run:R-1",
    ],
)
def test_a_retry_touches_exactly_what_targets_lists_among_the_failed(tmp_path: Path, where: str) -> None:
    """C10; and both answers fit their schemas (C5)."""
    job = write_many_failed(tmp_path, 60)
    shown = listed(tmp_path, f"{where} status:failed")
    foretold = holdfast("retry", "frogs", "--where", where, "--dry-run", "--json", cwd=tmp_path).json()
    validator("retry_preview").validate(foretold)
    assert (foretold["requeues"], foretold["of_failed"]) == (len(shown), 60)
    done = holdfast("retry", "frogs", "--where", where, "--queue-only", "--json", cwd=tmp_path)
    validator("retry").validate(done.json())
    assert (done.code, done.json()["requeued"]) == (0, len(shown))
    with ledger_in(tmp_path) as ledger:
        assert failed_urls(ledger, job, "pending") == shown
        assert ledger.job("frogs").status == ("in_progress" if shown else "completed")
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    write_many_failed(tmp_path, 12)
    before = holdfast("status", "frogs", "--json", cwd=tmp_path).out
    done = holdfast("retry", "frogs", "--dry-run", cwd=tmp_path)
    assert (done.code, done.err) == (0, "Would queue 12 of 12 failed targets of frogs again; nothing was changed.\n")
    assert done.out.count("https://marsh.test/frog/") == 10
    assert holdfast("status", "frogs", "--json", cwd=tmp_path).out == before


@pytest.mark.parametrize("place", ["reopen.after_commit:1", "walk.before_commit:2", "walk.after_commit:2"])
def test_a_retry_killed_between_two_slices_ends_alike_when_repeated(tmp_path: Path, place: str) -> None:
    job = write_many_failed(tmp_path, MANY)
    with ledger_in(tmp_path) as ledger:
        meant = failed_urls(ledger, job)
        spared = {url for url in meant if int(url.rpartition("/")[2]) % len(CODES) == 1}
    words = ("retry", "frogs", "--where", "-code:http_403", "--queue-only")
    killed = holdfast(*words, cwd=tmp_path, HOLDFAST_FAULT=f"{place}:kill")
    assert killed.code == -signal.SIGKILL
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast(*words, cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        assert failed_urls(ledger, job, "pending") == meant - spared
        assert failed_urls(ledger, job) == spared
        rows = ledger.targets(job, where=[("status", True, ("pending",))], limit=MANY)
        assert {row.generation for row in rows} == {2}
        assert ledger.walking(job) is None
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_worker_ends_a_retry_that_was_cut_short(moody: WorldServer, tmp_path: Path) -> None:
    """The walk stands in the ledger: whoever works the job next puts the rest back first."""
    assert crawled(moody, tmp_path).code == 3
    failed = listed(tmp_path, "status:failed")
    killed = holdfast("retry", "frogs", cwd=tmp_path, HOLDFAST_FAULT="reopen.after_commit:1:kill")
    assert killed.code == -signal.SIGKILL
    assert listed(tmp_path, "status:failed") == failed
    assert holdfast("resume", cwd=tmp_path).code in (0, 3)
    assert failed <= listed(tmp_path, "status:succeeded")
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_retry_with_nothing_to_do_says_so_and_moves_nothing(tmp_path: Path) -> None:
    write_many_failed(tmp_path, 3)
    done = holdfast("retry", "frogs", "--where", "code:poison", cwd=tmp_path)
    assert (done.code, done.err) == (0, "No failed target of frogs fits: nothing to retry.\n")
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "completed"}


@pytest.mark.parametrize("option", ["--queue-only", "--dry-run"])
def test_a_retry_of_what_a_retry_queued_names_the_way_to_work_it(tmp_path: Path, option: str) -> None:
    write_many_failed(tmp_path, 3)
    assert holdfast("retry", "frogs", "--queue-only", cwd=tmp_path).code == 0
    refused = holdfast("retry", "frogs", option, cwd=tmp_path)
    assert refused.code == 6
    assert "it is in progress, and no process works it. Allowed: holdfast resume frogs, holdfast pause" in refused.err


@pytest.mark.parametrize("where", ["flavour:sweet", "status:lost", "settled:soon", "depth:deep", "frog"])
def test_a_filter_that_cannot_be_read_is_exit_2_and_changes_nothing(tmp_path: Path, where: str) -> None:
    write_many_failed(tmp_path, 3)
    done = holdfast("retry", "frogs", "--where", where, cwd=tmp_path)
    assert done.code == 2
    assert ("settled label" not in done.err) or "keys:" in done.err
    if where.startswith("flavour"):
        assert all(key in done.err for key in ("status", "parent", "label", "settled", "bytes", "run"))


@pytest.mark.parametrize("status", JOB.states)
def test_a_retry_is_lawful_where_the_table_says_so(tmp_path: Path, status: str) -> None:
    """JOB-03: paused and timeout stay; what is illegal exits 6 and names what is allowed."""
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), status)
    done = holdfast("retry", "frogs", "--queue-only", cwd=tmp_path)
    lawful = any(row.verb == "retry" and row.source == status for row in JOB.moves)
    assert done.code == (0 if lawful else 6)
    assert ("Allowed: holdfast " in done.err) is not lawful
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": status}


def test_tries_are_counted_on_after_a_retry(tmp_path: Path) -> None:
    with FakeWeb({"/": '<a href="/frog">frog</a>', "/frog": 404}) as web:
        holdfast("crawl", f"{web.url}/", "--name", "frogs", *web.options, cwd=tmp_path)
        holdfast("retry", "frogs", cwd=tmp_path)
    lines = holdfast("explain", "frogs", "/frog", cwd=tmp_path).out.splitlines()
    assert " after 1 attempt, 2 in all: " in lines[1]
    assert [line.split()[0] for line in lines[-3:]] == ["TRY", "1", "2"]
