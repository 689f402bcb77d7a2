"""`holdfast exclude`: what a pattern matches is fetched no more, also while the job is worked; and the way back."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, put_into, submit
from cli.polite_origin import Answer, Origin, linking
from cli.schemas import validator
from cli.worked import failed_urls, write_many_pending
from holdfast.demo.serving import WorldServer
from waiting import wait_until

TAGS = 2_300  # three slices


def listed(folder: Path, where: str) -> set[str]:
    rows = holdfast("targets", "frogs", "--where", where, "--json", cwd=folder).json()["targets"]
    return {row["url"] for row in rows}


def test_a_running_job_fetches_nothing_of_it_any_more(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    done = holdfast("exclude", "frogs", "/p/1*", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    begun = listed(tmp_path, "url:*/p/1* status:succeeded,in_progress,failed")
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs").id
        by_then = ledger.books(job)[1].succeeded
        wait_until(lambda: ledger.books(job)[1].succeeded > by_then + 50, 60)
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    assert crawl.end().code == 10
    assert listed(tmp_path, "url:*/p/1* status:succeeded,in_progress,failed,pending") <= begun
    left_out = holdfast("targets", "frogs", "--where", 'rule:"exclusion 1"', "--json", cwd=tmp_path).json()["targets"]
    assert len(left_out) >= done.json()["removed"]
    assert {(row["status"], row["disposition"]) for row in left_out} == {("skipped", "excluded")}
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_path_too_long_for_a_pattern_is_fetched_and_that_is_told_at_the_start(tmp_path: Path) -> None:
    """SEC-07: it was left out, and nobody was told."""
    long = "/" + "a" * 600
    with Origin(lambda path: Answer(404) if path == "/robots.txt" else linking("/", "/y!", long)) as origin:
        words = ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs"]
        done = holdfast(*words, "--exclude", "re:(?=.*!)y", cwd=tmp_path)
    assert done.code == 0, done.err
    said = "pattern 're:(?=.*!)y' is not tried on URLs of more than 407 characters, which are fetched whatever it says"
    assert said in done.err
    assert listed(tmp_path, "status:succeeded") == {origin.url + "/", origin.url + long}
    assert said in holdfast("explain", "frogs", long, cwd=tmp_path).out
    assert "event=pattern_untried" in holdfast("logs", "frogs", "--level", "warning", cwd=tmp_path).out


def test_a_dry_run_foretells_what_comes_and_changes_nothing(tmp_path: Path) -> None:
    write_many_pending(tmp_path, 3, 12)
    before = holdfast("status", "frogs", "--json", cwd=tmp_path).out
    told = holdfast("exclude", "frogs", "/tags/*", "--dry-run", "--json", cwd=tmp_path).json()
    validator("exclusion_preview").validate(told)
    assert (told["removes"], told["of_pending"], told["kept_succeeded"], len(told["sample"])) == (12, 15, 0, 10)
    assert holdfast("exclude", "frogs", "*", "--dry-run", cwd=tmp_path).err == (
        "Would leave out 15 of 15 pending; 1 that succeeded would be kept; nothing was changed.\n"
    )
    assert holdfast("status", "frogs", "--json", cwd=tmp_path).out == before
    done = holdfast("exclude", "frogs", "/tags/*", "--json", cwd=tmp_path)
    validator("exclusion").validate(done.json())
    assert done.json()["removed"] == told["removes"]


@pytest.mark.parametrize("place", ["exclude.after_commit:1", "sweep.before_commit:2", "sweep.after_commit:2"])
def test_an_exclusion_killed_between_two_slices_ends_alike_when_repeated(tmp_path: Path, place: str) -> None:
    job = write_many_pending(tmp_path, 50, TAGS)
    words = ("exclude", "frogs", "/tags/*")
    killed = holdfast(*words, cwd=tmp_path, HOLDFAST_FAULT=f"{place}:kill")
    assert killed.code == -signal.SIGKILL
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast(*words, cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        assert len(failed_urls(ledger, job, "skipped")) == TAGS
        assert len(failed_urls(ledger, job, "pending")) == 50
        assert [each.n for each in ledger.exclusions(job)] == [1]
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


@pytest.mark.parametrize("place", ["include.after_commit:1", "walk.before_commit:2", "walk.after_commit:2"])
def test_a_removal_killed_between_two_slices_ends_alike_when_repeated(tmp_path: Path, place: str) -> None:
    job = write_many_pending(tmp_path, 50, TAGS)
    assert holdfast("exclude", "frogs", "/tags/*", cwd=tmp_path).code == 0
    words = ("exclude", "frogs", "--remove", "1")
    killed = holdfast(*words, cwd=tmp_path, HOLDFAST_FAULT=f"{place}:kill")
    assert killed.code == -signal.SIGKILL
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast(*words, cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        assert len(failed_urls(ledger, job, "pending")) == TAGS + 50
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_crawl_goes_on_around_what_is_excluded(tree: WorldServer, tmp_path: Path) -> None:
    """Links found later are judged too: the subtree is never asked for."""
    assert holdfast(*crawl_words(tree, "--start-paused"), cwd=tmp_path).code == 0
    assert holdfast("exclude", "frogs", "--regex", r"/p/[2-5]\b", cwd=tmp_path).code == 0
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    rows = holdfast("targets", "frogs", "--json", cwd=tmp_path).json()["targets"]
    left_out = {row["url"].rpartition("/")[2] for row in rows if row["rule"] == "exclusion 1"}
    assert left_out
    assert left_out <= {"2", "3", "4", "5"}
    assert all(row["attempts"] == 0 for row in rows if row["rule"] == "exclusion 1")
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    removed = holdfast("exclude", "frogs", "--remove", "1", cwd=tmp_path)
    assert (
        "is removed.\n  frogs is complete; to fetch what it left out: holdfast crawl frogs --mode full\n" in removed.err
    )
    assert " was removed already, " in holdfast("exclude", "frogs", "--remove", "1", cwd=tmp_path).err
    told = holdfast("explain", "frogs", f"/p/{min(left_out)}", "--json", cwd=tmp_path).json()
    assert "was added by cli at " in told["because"]
    assert ", and removed at " in told["because"]
    assert told["undo"] == "holdfast crawl frogs --mode full"
    assert holdfast(*shlex.split(told["undo"])[1:], cwd=tmp_path).code == 0
    assert len(listed(tmp_path, "status:succeeded")) == 60


def test_exclusions_are_listed_with_who_and_when(tmp_path: Path) -> None:
    write_many_pending(tmp_path, 1, 2)
    assert holdfast("exclude", "frogs", cwd=tmp_path).err == "frogs has no exclusions.\n"
    holdfast("exclude", "frogs", "/tags/*", "--this-run", cwd=tmp_path)
    holdfast("exclude", "frogs", "/frog/*", cwd=tmp_path)
    done = holdfast("exclude", "frogs", "--remove", "2", "--json", cwd=tmp_path)
    validator("exclusion").validate(done.json())
    assert done.json()["put_back"] == 1
    assert done.err == "Exclusion 2 of frogs (/frog/*) is removed: 1 target put back.\n"
    answer = holdfast("exclude", "frogs", "--json", cwd=tmp_path).json()
    validator("exclusions").validate(answer)
    rows = answer["exclusions"]
    assert [(row["n"], row["pattern"], row["this_run"], row["actor"]) for row in rows] == [
        (1, "/tags/*", True, "cli"),
        (2, "/frog/*", False, "cli"),
    ]
    assert rows[1]["removed_by"] == "cli"
    assert "removed" in holdfast("exclude", "frogs", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("tags",), 2),
        (("(?!x)(a+)+$", "--regex"), 2),
        (("--regex",), 2),
        (("--dry-run",), 2),
        (("/tags/*", "--remove", "1"), 2),
        (("--remove", "0"), 2),
        (("--remove", "7"), 5),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence_and_changes_nothing(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    write_many_pending(tmp_path, 1, 2)
    done = holdfast("exclude", "frogs", *words, cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (code, 1)
    assert holdfast("exclude", "frogs", "--json", cwd=tmp_path).json()["exclusions"] == []


def test_a_cancelled_job_takes_no_exclusion(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "cancelled")
    assert holdfast("exclude", "frogs", "/tags/*", cwd=tmp_path).code == 6
