"""`holdfast rollback`: back to a checkpoint, as foretold (C12, FUT-01), whoever works the job (E18), killed or not."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, put_into, submit
from cli.schemas import validator
from cli.worked import planned
from conformance.verdicts import succeed
from holdfast.audit.verify import verify
from holdfast.demo.serving import WorldServer
from holdfast.model.job import Counts
from holdfast.ports import Ledger
from waiting import wait_until

PAGES = 60


def counts(folder: Path, name: str = "frogs") -> dict[str, int]:
    found: dict[str, int] = holdfast("status", name, "--json", cwd=folder).json()["counts"]
    return found


def at(folder: Path, number: int) -> dict[str, int]:
    """The counts of a checkpoint, with what was in hand as pending."""
    rows = holdfast("checkpoints", "frogs", "--json", cwd=folder).json()["checkpoints"]
    [found] = [row["counts"] for row in rows if row["number"] == number]
    return {**found, "pending": found["pending"] + found["in_progress"], "in_progress": 0}


def exported(folder: Path, name: str = "frogs") -> list[str]:
    holdfast("export", name, "-o", "frogs.jsonl", "--fields", "url,title,depth,sha256,links,parent", cwd=folder)
    return sorted((folder / "frogs.jsonl").read_text().splitlines())


def test_a_rollback_brings_the_counts_of_the_checkpoint_and_a_resume_the_results(
    tree: WorldServer, tmp_path: Path
) -> None:
    """C12."""
    assert holdfast(*crawl_words(tree, "--max-pages", "20"), cwd=tmp_path).code == 13
    number = holdfast("status", "frogs", "--json", cwd=tmp_path).json()["checkpoint"]["number"]
    assert holdfast("resume", "frogs", "--extend-pages", "1000", cwd=tmp_path).code == 0
    whole = exported(tmp_path)
    assert len(whole) == PAGES

    told = holdfast("rollback", "frogs", str(number), "--dry-run", "--json", cwd=tmp_path)
    assert counts(tmp_path)["succeeded"] == PAGES
    done = holdfast("rollback", "frogs", str(number), "--json", cwd=tmp_path)
    assert (told.code, done.code) == (0, 0)
    validator("rollback").validate(done.json())
    assert told.json() == {**done.json(), "dry_run": True, "snapshot": None}
    assert done.json()["counts"] == counts(tmp_path) == at(tmp_path, number)
    assert done.json()["drops"] == PAGES - counts(tmp_path)["discovered"]
    assert done.json()["keeps_artifacts"] == PAGES - 20
    assert len(exported(tmp_path)) == 20
    verified = holdfast("verify", "frogs", "--deep", cwd=tmp_path)
    assert verified.code == 0, verified.out + verified.err
    [event] = holdfast("events", "frogs", "--type", "job.rolled_back", "--json", cwd=tmp_path).json()["events"]
    assert (event["to"], event["because"]) == ("paused", f"to checkpoint {number}")

    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert exported(tmp_path) == whole
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0

    assert holdfast("restore", done.json()["snapshot"], "--trust", "--name", "toads", cwd=tmp_path).code == 0
    assert counts(tmp_path, "toads") == counts(tmp_path)
    assert exported(tmp_path, "toads") == whole


def worked(folder: Path, *, released: bool = True) -> None:
    """A job of thirty pages with two checkpoints, after ten and after twenty of them."""
    with ledger_in(folder) as ledger:
        worker = planned(ledger, "frogs", [f"/frog/{n}" for n in range(30)])
        for _ in range(2):
            hand = worker.claim(room=10)
            worker.settle(*(succeed(here, disposition="no_record") for here in hand), checkpoint="targets")
        if released:
            worker.release()


def sound(folder: Path, name: str = "frogs") -> Counts:
    """The books of a job that breaks no law."""
    with ledger_in(folder) as ledger:
        job = ledger.job(name).id
        assert verify(ledger.query, job) == []
        return ledger.books(job)[1]


def test_a_job_that_is_worked_is_paused_first(tmp_path: Path) -> None:
    worked(tmp_path, released=False)
    refused = holdfast("rollback", "frogs", "1", cwd=tmp_path)
    assert (refused.code, "holdfast pause frogs" in refused.err) == (6, True)
    assert sound(tmp_path).succeeded == 20


def test_who_works_the_job_nevertheless_loses_it_and_does_not_take_it_up_again(
    slow_tree: WorldServer, tmp_path: Path
) -> None:
    """E18: somebody took it up between the look and the rollback."""
    with ledger_in(tmp_path) as ledger:
        crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
        try:
            wait_until(lambda: newest(ledger) >= 2, 30, "two checkpoints")
            job = ledger.job("frogs").id
            ledger.rollback(job, 1, actor="ann", is_dead=lambda owner: False)
            wait_until(lambda: crawl.is_over or ledger.job("frogs").status != "paused", 30, "the worker has noticed")
            assert ledger.job("frogs").status == "paused"
            ended = crawl.end()
        finally:
            crawl.stop()
        assert ended.code == 10, ended.err
        assert "\nPaused  frogs" in f"\n{ended.err}"
        assert ledger.job("frogs").paused_by == "user"
    assert sound(tmp_path).seven() == at(tmp_path, 1)


def newest(ledger: Ledger) -> int:
    """The number of the newest checkpoint of `frogs`, if there is any."""
    points = [ledger.books(job.id)[2] for job in ledger.jobs() if job.name == "frogs"]
    return next((point.number for point in points if point is not None), 0)


@pytest.mark.parametrize("place", ["before", "after"])
def test_killed_in_the_middle_it_has_happened_or_not(tmp_path: Path, place: str) -> None:
    worked(tmp_path)
    killed = holdfast("rollback", "frogs", "1", cwd=tmp_path, HOLDFAST_FAULT=f"rollback.{place}_commit:1:kill")
    assert killed.code == -signal.SIGKILL
    assert sound(tmp_path).succeeded == (20 if place == "before" else 10)
    assert holdfast("rollback", "frogs", "1", cwd=tmp_path).code == 0
    assert sound(tmp_path).succeeded == 10


def test_what_it_says(tmp_path: Path) -> None:
    worked(tmp_path)
    told = holdfast("rollback", "frogs", "1", "--dry-run", cwd=tmp_path)
    undone = "10 settled targets pending again, 0 found since dropped."
    assert told.err.splitlines() == [
        f"Would roll frogs back to checkpoint 1: {undone}",
        "  discovered 30 = 10 succeeded + 0 failed + 0 skipped + 0 cancelled + 20 pending",
        "  nothing was changed",
    ]
    done = holdfast("rollback", "frogs", "1", cwd=tmp_path)
    assert done.err.splitlines()[0] == f"Rolled frogs back to checkpoint 1: {undone}"
    assert done.err.splitlines()[-1] == "  frogs is paused; continue: holdfast resume frogs"
    listed = holdfast("checkpoints", "frogs", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ["3", "2", "1"]
    assert "targets, undone by 3" in listed[2]


def test_a_fork_is_a_new_job_at_the_checkpoint_and_leaves_the_other_alone(tmp_path: Path) -> None:
    worked(tmp_path)
    with ledger_in(tmp_path) as ledger:
        before = ledger.job("frogs"), ledger.targets(ledger.job("frogs").id)
    done = holdfast("rollback", "frogs", "1", "--fork", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    validator("rollback").validate(done.json())
    assert (done.json()["name"], done.json()["fork_of"]) == ("frogs-1", before[0].uid)
    assert (sound(tmp_path).succeeded, sound(tmp_path, "frogs-1").succeeded) == (20, 10)
    with ledger_in(tmp_path) as ledger:
        assert (ledger.job("frogs"), ledger.targets(ledger.job("frogs").id)) == before
        assert (ledger.job("frogs-1").status, len(ledger.targets(ledger.job("frogs-1").id))) == ("paused", 30)
    again = holdfast("rollback", "frogs", "1", "--fork", cwd=tmp_path)
    assert (again.code, "here is a job frogs-1 already" in again.err) == (6, True)
    assert list((tmp_path / "holdfast-data" / "snapshots").rglob("*.tar")) == []
    assert holdfast("rollback", "frogs", "1", "--name", "toads", cwd=tmp_path).code == 2


def test_where_one_cannot_go_back_to(tmp_path: Path) -> None:
    worked(tmp_path)
    assert holdfast("rollback", "frogs", "1", cwd=tmp_path).code == 0
    missing = holdfast("rollback", "frogs", "9", cwd=tmp_path)
    assert (missing.code, "frogs has no checkpoint 9: its newest is 3" in missing.err) == (5, True)
    for words in (("rollback", "frogs", "2"), ("checkpoints", "frogs", "--show", "2")):
        refused = holdfast(*words, cwd=tmp_path)
        assert (refused.code, "was undone by a rollback, which wrote 3" in refused.err) == (6, True)
    assert holdfast("rollback", "frogs", "none", cwd=tmp_path).code == 2
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, name="toads"), "cancelled")
    refused = holdfast("rollback", "toads", "1", cwd=tmp_path)
    assert refused.code == 6
    assert refused.err.startswith("Cannot rollback toads: it is cancelled. Allowed: holdfast crawl toads --new")
