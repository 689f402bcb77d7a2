"""The renderers show the same updates, each in its form, and nothing steers the terminal (ux 3.4, C6)."""

from __future__ import annotations

import io
import json
import os

import pytest
from msgspec.structs import replace

from cli.commands import CONTROL_CODE, make_counts, make_job
from holdfast.cli.arguments import Globals
from holdfast.cli.main import main
from holdfast.cli.screen.console import Console
from holdfast.cli.screen.feed import Feed
from holdfast.cli.screen.progress import ProgressUpdate
from holdfast.cli.screen.screens import PlainLines, plain_line, screen_for
from holdfast.cli.screen.text import folded
from holdfast.cli.screen.tty import Terminal, live_line
from holdfast.clock import ManualClock
from holdfast.model.job import Options
from holdfast.model.lease import Rescued

LINE = "14:31:07Z docs-x crawling succeeded=1412 failed=9 skipped=29 pending=682 in_progress=8 rate=6.1/s checkpoint=61"


def make_voice(**options: bool) -> Console:
    return Console(Globals(**options), io.StringIO(), io.StringIO())


def make_moment(seconds: float = 0, **changes: object) -> ProgressUpdate:
    return ProgressUpdate(
        job=make_job(**changes),
        counts=make_counts(),
        in_flight=8,
        checkpoint=61,
        checkpoint_ms=-9_000,
        rate=6.14,
        now_ms=round(seconds * 1000),
        wall_ms=1_772_375_467_000 + round(seconds * 1000),
    )


def test_the_plain_line_has_its_exact_form() -> None:
    assert plain_line(make_moment()) == LINE


def test_plain_says_a_line_per_ten_seconds_and_per_change_of_state() -> None:
    console = make_voice()
    screen = screen_for(console, "docs-x", "")
    for second in range(25):
        screen.show(make_moment(second))
    screen.show(make_moment(25, requested="pause"))
    screen.show(make_moment(26, status="paused"))
    words = [line.split()[:3] for line in console.err.getvalue().splitlines()]
    assert [(at, activity) for at, _, activity in words] == [
        ("14:31:07Z", "crawling"),
        ("14:31:17Z", "crawling"),
        ("14:31:27Z", "crawling"),
        ("14:31:32Z", "pausing"),
        ("14:31:33Z", "paused"),
    ]
    assert console.out.getvalue() == ""


def test_a_host_that_is_waited_for_is_said_at_once_and_on_every_screen() -> None:
    waiting = "waiting for marsh.test until 14:35:00 UTC (it asked us to wait: 429 or 5xx)"
    waits = replace(make_moment(2), waiting=waiting, counts=make_counts(pending=690, in_progress=0))
    plain, events = make_voice(), make_voice(jsonl=True)
    for console in (plain, events):
        screen = screen_for(console, "docs-x", "")
        screen.show(make_moment(0))
        screen.show(waits)
    assert plain.err.getvalue().splitlines()[1].endswith(f" checkpoint=61 {waiting}")
    told = [json.loads(line) for line in events.out.getvalue().splitlines()]
    assert [event["because"] for event in told if event["type"] == "job.status"][1] == waiting


def test_json_lines_are_events_on_stdout() -> None:
    console = make_voice(jsonl=True)
    with screen_for(console, "docs-x", "") as screen:
        for tenth in range(11):
            screen.show(make_moment(tenth / 10))
        screen.show(make_moment(1.2, status="paused", paused_by="user"))
    events = [json.loads(line) for line in console.out.getvalue().splitlines()]
    assert [event["type"] for event in events] == ["job.status", *["progress"] * 3, "job.status", "progress"]
    assert events[1]["counts"]["discovered"] == 2140
    assert (events[-2]["status"], events[-2]["paused_by"]) == ("paused", "user")
    assert console.err.getvalue() == ""


def test_the_status_of_a_job_that_is_over_comes_behind_what_is_told_of_it_as_the_screen_goes_down() -> None:
    console = make_voice(jsonl=True)
    untold = [{"type": "target.succeeded"}]

    def read_events() -> list[dict[str, str]]:
        told = list(untold)
        untold.clear()
        return told

    with screen_for(console, "docs-x", "", read_events) as screen:
        screen.show(make_moment(0))
        screen.show(make_moment(0.1, status="completed"))
        screen.show(make_moment(0.2, status="completed"))
        untold.append({"type": "run.finished"})
    types = [json.loads(line)["type"] for line in console.out.getvalue().splitlines()]
    assert types == ["job.status", "target.succeeded", "progress", "run.finished", "job.status", "progress"]


def test_quiet_shows_nothing() -> None:
    console = make_voice(quiet=True)
    screen_for(console, "docs-x", "").show(make_moment())
    console.say("a message to people")
    assert (console.out.getvalue(), console.err.getvalue()) == ("", "")


@pytest.mark.parametrize("options", [{}, {"jsonl": True}, {"quiet": True}, {"plain": True}])
def test_off_a_terminal_no_screen_is_drawn(options: dict[str, bool]) -> None:
    console = make_voice(**options)
    with screen_for(console, "docs-x", "") as screen:
        screen.show(make_moment())
    assert isinstance(screen, PlainLines)
    assert not CONTROL_CODE.search(console.out.getvalue() + console.err.getvalue())


class OnTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_live_screen_unless_it_is_dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(Globals(), io.StringIO(), OnTerminal())
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(screen_for(console, "docs-x", ""), Terminal)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(screen_for(console, "docs-x", ""), PlainLines)


def test_the_live_line_has_its_exact_form() -> None:
    assert live_line(make_moment(), 0) == (
        "crawling   1412 done   690 known left   6.1/s   failed 9   skipped 29   in flight 8   checkpoint 61, 9 s ago"
    )


def test_the_live_line_shows_what_the_limits_leave() -> None:
    limited = make_moment(options=Options(max_pages=2000, time_limit_s=1800.0))
    assert "   1421 of 2000 pages, ETA 1 min   17 min of time left   checkpoint 61, " in live_line(limited, 0)


def test_the_live_screen_stays_behind_nothing_and_prints_messages_above_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console = Console(Globals(), io.StringIO(), OnTerminal())
    with Terminal(console, "docs-x \x1b[31m", "tail", clock=ManualClock()) as screen:
        screen.show(make_moment())
        console.say("Recovered [bold]docs-x[/bold]")
    shown = console.err.getvalue()
    assert "Recovered [bold]docs-x[/bold]" in shown
    assert "\x1b[31m" not in shown
    assert console.above is None


def test_a_feed_tells_the_recovery_once_before_anything_else() -> None:
    console = make_voice()
    feed = Feed(screen_for(console, "docs-x", ""), console, ManualClock())

    class Session:
        rescued: Rescued | None = Rescued(4, 3)
        waiting = ""

    feed.session = Session()
    feed(make_job(), make_counts(), 8, 61)
    feed(make_job(), make_counts(), 8, 61)
    first, second = console.err.getvalue().splitlines()
    assert first == "Recovered docs-x: its worker died. 0 lost, 3 pages in flight are fetched again."
    assert " docs-x crawling " in second


def test_a_feed_shows_at_most_ten_updates_a_second_and_every_change_of_state() -> None:
    clock, console = ManualClock(), make_voice()
    seen: list[str] = []
    screen = PlainLines(console, lambda console, moment, changed: seen.append(moment.job.status), every_ms=0)
    feed = Feed(screen, console, clock)
    for _ in range(100):
        feed(make_job(), make_counts(), 8, 61)
        clock.advance(0.01)
    feed(make_job(status="paused"), make_counts(), 0, 62)
    assert seen == ["in_progress"] * 10 + ["paused"]
    assert feed.in_flight == 0


def test_crawled_words_cannot_steer_the_terminal() -> None:
    console = make_voice()
    console.insist("a\x1b]0;owned\x07b\r\x9b2Jc\u202ed\nsecond line")
    assert console.err.getvalue() == "a]0;ownedb2Jcd\nsecond line\n"
    console.document({"title": "a\x1b[2J\x9b\x7f"})
    assert not CONTROL_CODE.search(console.out.getvalue())
    assert json.loads(console.out.getvalue())["title"] == "a\x1b[2J\x9b\x7f"


def test_an_urgent_word_goes_past_the_buffer() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as reader, os.fdopen(writing, "w") as err:
        screen_for(Console(Globals(), io.StringIO(), err), "docs-x", "").urgent("Pausing")
        err.close()
        assert reader.read() == "Pausing\n"


def test_where_the_whole_is_known_its_share_is_shown() -> None:
    """ux 3.4: the form with a known total."""
    moment = make_moment(planned_total=2900)
    assert live_line(moment, 0) == (
        "docs-x   ██████████████░░░░░░░░░░░░░ 1450/2900   50.0 %   6.1/s   ETA 3 min   failed 9"
    )
    assert plain_line(moment).endswith("checkpoint=61 percent=50.0")


def test_a_plan_that_turned_out_too_small_has_no_share() -> None:
    assert "percent" not in plain_line(make_moment(planned_total=100))


def test_lines_are_folded_between_parts_and_words_and_no_command_is_cut() -> None:
    long = (
        "Completed  docs  R-1   discovered 4123 = 2132 succeeded + 2 failed + 0 skipped + 0 cancelled + 0 pending"
        "   checkpoint 1\n"
        "  continue: holdfast resume docs     results so far: holdfast export docs -o docs.jsonl\n"
        "  because: no seed could be worked, and this sentence is longer than the line that it stands in can be\n"
        "  crawl URL...|NAME    crawl a site; the same command again goes on where it stopped\n"
        "crawling   1412 done   690 known left   6.1/s   failed 9   skipped 29   in flight 8   checkpoint 61\n"
    )
    assert folded(long, 80).splitlines() == [
        "Completed  docs  R-1",
        "    discovered 4123 = 2132 succeeded + 2 failed + 0 skipped + 0 cancelled + 0",
        "    pending   checkpoint 1",
        "  continue: holdfast resume docs",
        "      results so far: holdfast export docs -o docs.jsonl",
        "  because: no seed could be worked, and this sentence is longer than the line",
        "  that it stands in can be",
        "  crawl URL...|NAME    crawl a site; the same command again goes on where it",
        "                       stopped",
        "crawling   1412 done   690 known left   6.1/s   failed 9   skipped 29",
        "    in flight 8   checkpoint 61",
    ]
    assert folded(long, 200) == long


def test_only_terminals_get_folded_lines_and_json_is_never_folded() -> None:
    words = "frog " * 30
    on_terminal, in_a_file = Console(Globals(), OnTerminal(), OnTerminal()), make_voice()
    for console in (on_terminal, in_a_file):
        console.say(words)
        console.data(words)
    assert all(stream.getvalue().count("\n") == 2 for stream in (on_terminal.out, on_terminal.err))
    assert all(stream.getvalue() == f"{words}\n" for stream in (in_a_file.out, in_a_file.err))
    as_json = Console(Globals(fields="*"), OnTerminal(), OnTerminal())
    as_json.document({"words": words})
    assert as_json.out.getvalue().count("\n") == 1


@pytest.mark.parametrize("words", [["--help"], ["crawl", "--help"], ["help", "environment"], ["help", "resume"]])
def test_help_fits_a_terminal_of_eighty_columns(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = OnTerminal()
    monkeypatch.setattr("sys.stdout", screen)
    assert main(words) == 0
    wide = [line for line in screen.getvalue().splitlines() if len(line) > 80 and "holdfast " not in line]
    assert wide == []
