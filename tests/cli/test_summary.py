"""The last words of a command have their exact form (ux 3.4, 7)."""

from __future__ import annotations

from cli.commands import make_counts, make_job
from holdfast.cli.screen import summary
from holdfast.cli.screen.feed import recovered
from holdfast.cli.signals import draining, pausing
from holdfast.model.job import Counts
from holdfast.model.lease import Rescued

PAUSED = make_counts(pending=690, in_progress=0)
NOW_MS = 1_772_380_800_000


def test_the_summary_of_the_handbook() -> None:
    text = summary.summary("paused", make_job(status="paused", paused_by="user"), PAUSED, 61)
    assert text.splitlines() == [
        "Paused  docs-x  R-4   discovered 2140 = 1412 succeeded + 9 failed + 29 skipped + 0 cancelled + 690 pending"
        "   checkpoint 61",
        "  failed: network_timeout 5, http_403 3, answer_unreadable 1        see: holdfast errors docs-x",
        "  skipped: excluded 20, robots 5, duplicate 4        see: holdfast targets docs-x --where status:skipped",
        "  continue: holdfast resume docs-x     results so far: holdfast export docs-x -o docs-x.jsonl",
    ]


def test_every_end_begins_with_its_word() -> None:
    words = {how: summary.summary(how, make_job(), Counts(), None).split("  ")[0] for how in summary.FIRST_WORDS}
    assert set(words.values()) == {"Completed", "Paused", "Interrupted", "Timed out", "Failed", "Cancelled"}
    assert words["disk_full"] == "Paused"


def test_a_summary_with_pages_in_hand_still_balances() -> None:
    assert summary.books(make_counts()).endswith("+ 682 pending + 8 in progress")


def test_a_failed_job_says_why_and_a_completed_one_offers_no_continuing() -> None:
    assert "because: waiting for a worker" in summary.summary("failed", make_job(), Counts(), None)
    assert "export" not in summary.summary("failed", make_job(), Counts(), None), "there is nothing to export"
    assert "continue:" not in summary.summary("completed", make_job(), Counts(), None)


def test_the_announcements_of_starting_again() -> None:
    stopped = make_job(status="paused", paused_at=NOW_MS - 7_200_000)
    assert summary.starting(stopped) == "Starting J-7f3a docs-x"
    assert summary.resuming(stopped, PAUSED, NOW_MS) == (
        "Resuming docs-x: 1412 done, 690 left, stopped 2 h ago. --new starts over."
    )
    done = make_job(status="completed", finished_at=NOW_MS - 7_200_000)
    assert summary.is_complete(done, make_counts(), NOW_MS) == (
        "docs-x is complete: 1412 done, 9 failed, 2 h ago. --mode new looks for changes; --new starts over."
    )


def test_the_words_of_a_full_disk_state_what_was_not_saved() -> None:
    assert summary.disk_low(make_job(), free_mb=212.3, wanted_mb=400, not_saved=4) == (
        "Disk low, 212 MB free: paused docs-x, 4 pages not saved. Free 188 MB, then: holdfast resume docs-x"
    )
    assert "docs-x, 1 page not saved." in summary.disk_low(make_job(), free_mb=1, wanted_mb=400, not_saved=1)


def test_the_answers_to_signals() -> None:
    assert pausing(8, 10.0) == (
        "Pausing: finishing 8 pages (at most 10 s). Ctrl-C again exits now; nothing is lost either way."
    )
    assert pausing(1, 10.0).startswith("Pausing: finishing 1 page (")
    assert pausing(0, 10.0) == "Pausing (at most 10 s). Ctrl-C again exits now; nothing is lost either way."
    assert draining(8, 10.0).startswith("Stopping: finishing 8 pages (at most 10 s). The job is not paused")
    assert draining(0, 10.0).startswith("Stopping (at most 10 s). The job is not paused")


def test_one_page_in_flight_is_told_in_the_singular() -> None:
    assert recovered(make_job(), Rescued(2, 1)).endswith("0 lost, 1 page in flight is fetched again.")
    assert "killed the worker" in recovered(make_job(), Rescued(2, 1, 1))
