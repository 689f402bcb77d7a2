"""robots.txt through the real command, judged by the site's own log (FRO-08, ERR-05, DOC-27)."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from cli.commands import Running, holdfast, ledger_in
from cli.polite_origin import Answer, Origin, linking
from holdfast.audit.verify import verify
from waiting import wait_until

PAGES = ("/", "/a", "/b", "/private/x", "/private/ok")
RULES = b"User-agent: *\nDisallow: /private/\nAllow: /private/ok\n"
MISSING = Answer(404)


class Site:
    """A few pages that all link to each other, under one robots.txt."""

    def __init__(self, robots: Answer = MISSING, pages: tuple[str, ...] = PAGES) -> None:
        self.robots, self.pages = robots, pages

    def __call__(self, path: str) -> Answer:
        if path == "/robots.txt":
            return self.robots
        return linking(*self.pages) if path in self.pages else MISSING


def crawl(origin: Origin, *more: str) -> list[str]:
    return ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs", *more]


def ends(folder: Path) -> dict[str, tuple[str, str | None, str | None, int]]:
    """path -> (status, disposition or code, rule, attempts), with a ledger that verify finds whole."""
    with ledger_in(folder) as ledger:
        job = ledger.job("frogs")
        assert verify(ledger.query, job.id) == []
        rows = ledger.targets(job.id)
    return {
        "/" + row.url.split("/", 3)[3]: (row.status, row.disposition or row.code, row.rule, row.attempts)
        for row in rows
    }


def test_what_robots_forbids_is_skipped_without_an_attempt_and_never_asked_for(tmp_path: Path) -> None:
    """FRO-08: a link known to be forbidden when it is found is a row, skipped, with the rule that forbids it."""
    with Origin(Site(Answer(200, RULES))) as origin:
        done = holdfast(*crawl(origin), cwd=tmp_path)
        assert done.code == 0, done.err
        assert Counter(origin.paths()) == Counter(["/robots.txt", "/", "/a", "/b", "/private/ok"])
        assert origin.paths()[0] == "/robots.txt"
    assert ends(tmp_path)["/private/x"] == ("skipped", "robots", "Disallow: /private/", 0)


def test_a_seed_that_robots_forbids_is_skipped_when_claimed(tmp_path: Path) -> None:
    """Its origin's rules are not known when it is planned; then the attempt that found out is counted."""
    with Origin(Site(Answer(200, b"User-agent: holdfast\nDisallow: /\n"))) as origin:
        done = holdfast(*crawl(origin, "--json"), cwd=tmp_path)
        assert origin.paths() == ["/robots.txt"]
    assert done.json()["counts"]["skipped"] == 1, done.err
    assert ends(tmp_path) == {"/": ("skipped", "robots", "Disallow: /", 1)}
    assert f"  robots.txt forbids the seed {origin.url}/; see: holdfast explain " in done.err
    assert "  skipped: robots 1        see: holdfast targets " in done.err


def test_ignoring_robots_fetches_all_warns_and_is_an_event(tmp_path: Path) -> None:
    with Origin(Site(Answer(200, RULES))) as origin:
        done = holdfast(*crawl(origin, "--ignore-robots", "-q"), cwd=tmp_path)
        assert done.code == 0, done.err
        assert sorted(origin.paths()) == sorted(PAGES)
    assert "frogs ignores robots.txt" in done.err
    with ledger_in(tmp_path) as ledger:
        [event] = [each for each in ledger.history(ledger.job("frogs").id)[0] if each.verb == "amend"]
        assert (event.actor, event.because) == ("cli", "ignore_robots False -> True")


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_robots_txt_that_is_not_there_allows_everything(tmp_path: Path, status: int) -> None:
    """ERR-05"""
    with Origin(Site(Answer(status, RULES))) as origin:
        assert holdfast(*crawl(origin), cwd=tmp_path).code == 0
        assert Counter(origin.paths()) == Counter(["/robots.txt", *PAGES])


def test_a_robots_txt_that_cannot_be_read_is_tried_three_times_and_then_the_hosts_targets_fail(tmp_path: Path) -> None:
    """ERR-05: nothing else is asked for, and between the tries the host rests."""
    with Origin(Site(Answer(503))) as origin:
        done = holdfast(*crawl(origin), cwd=tmp_path)
        assert origin.paths() == ["/robots.txt"] * 3
        first, second = origin.gaps()
        assert (first > 0.4, second > 1.2) == (True, True), origin.gaps()  # 1 s and 2 s, less a fifth, and 0.4 s late
    assert done.code == 8, done.err
    assert ends(tmp_path) == {"/": ("failed", "robots_unreachable", None, 1)}


def test_a_robots_txt_that_heals_costs_no_page_an_attempt(tmp_path: Path) -> None:
    site = Site(Answer(503, headers={"retry-after": "0"}))
    with Origin(site) as origin:
        running = Running(*crawl(origin), cwd=tmp_path)
        wait_until(origin.paths, 30, "robots.txt is asked for")
        site.robots = Answer(200, RULES)
        assert running.end().code == 0
        assert set(ends(tmp_path).values()) == {
            ("succeeded", "page", None, 1),
            ("skipped", "robots", "Disallow: /private/", 0),
        }


def test_redirects_of_robots_txt_are_followed(tmp_path: Path) -> None:
    site = Site(Answer(301, headers={"location": "/moved/robots.txt"}))
    moved = {"/moved/robots.txt": Answer(302, headers={"location": "/there.txt"}), "/there.txt": Answer(200, RULES)}
    with Origin(lambda path: moved.get(path) or site(path)) as origin:
        assert holdfast(*crawl(origin), cwd=tmp_path).code == 0
        assert origin.paths()[:3] == ["/robots.txt", "/moved/robots.txt", "/there.txt"]
        assert "/private/x" not in origin.paths()


def test_a_robots_txt_that_only_redirects_allows_everything(tmp_path: Path) -> None:
    with Origin(Site(Answer(301, headers={"location": "/robots.txt"}))) as origin:
        assert holdfast(*crawl(origin), cwd=tmp_path).code == 0
        assert Counter(origin.paths()) == Counter({"/robots.txt": 6} | dict.fromkeys(PAGES, 1))


def test_it_is_asked_for_once_though_the_crawl_is_killed_and_taken_up_by_two_processes(tmp_path: Path) -> None:
    """E16: robots.txt is a row, and a day has not passed."""
    pages = ("/", *(f"/p/{n}" for n in range(60)))
    with Origin(Site(Answer(200, RULES, after_s=0.2), pages)) as origin:
        running = Running(*crawl(origin, "--delay", "20ms"), cwd=tmp_path)
        wait_until(lambda: len(origin.paths()) > 10, 30, "ten pages")
        running.send(signal.SIGKILL)
        running.end()
        done = holdfast(*crawl(origin, "--delay", "0", "--processes", "2"), cwd=tmp_path)
        assert done.code == 0, done.err
        assert Counter(origin.paths())["/robots.txt"] == 1


def test_two_processes_that_begin_together_ask_for_it_once(tmp_path: Path) -> None:
    pages = ("/", *(f"/p/{n}" for n in range(40)))
    site = Site(Answer(200, RULES, after_s=0.5), pages)
    with Origin(site) as origin:
        seeds = [origin.url + path for path in pages]
        words = ["crawl", *seeds, "--allow", origin.address, "--delay", "0", "--name", "frogs", "--processes", "2"]
        done = holdfast(*words, cwd=tmp_path)
        assert done.code == 0, done.err
        assert Counter(origin.paths()) == Counter(["/robots.txt", *pages])
        assert origin.paths()[0] == "/robots.txt"


def test_a_crawl_delay_is_kept_from_the_first_page_on(tmp_path: Path) -> None:
    """ERR-05: robots.txt itself is a request too, and the delay runs from it."""
    with Origin(Site(Answer(200, b"User-agent: *\nCrawl-delay: 2\n"), ("/", "/a", "/b"))) as origin:
        assert holdfast(*crawl(origin), cwd=tmp_path).code == 0
        first, *rest = origin.gaps()
        assert len(rest) == 2
        assert all(gap > 1.6 for gap in rest), origin.gaps()
        assert first < 2


def test_what_does_not_count_of_a_robots_txt_is_told_in_the_log(tmp_path: Path) -> None:
    """SEC-07: stars without end neither hold the crawl up nor are cut in silence."""
    hostile = b"User-agent: *\nDisallow: /private/" + b"*" * 500_000 + b"\nDisallow: /late\n"
    with Origin(Site(Answer(body=hostile))) as origin:
        done = holdfast(*crawl(origin), cwd=tmp_path)
    assert done.code == 0, done.err
    assert ends(tmp_path)["/private/x"][:2] == ("skipped", "robots")
    out = holdfast("logs", "frogs", "--level", "warning", cwd=tmp_path).out
    assert "event=robots_cut" in out
    assert "1 lines of more than 16,663 characters are cut there" in out


def test_rules_too_many_to_be_tried_on_a_url_are_told_once_per_origin_in_the_log(tmp_path: Path) -> None:
    """SEC-07"""
    long = tuple(f"/{name}" + "a" * 2_000 for name in "xy")
    rules = "".join(f"Disallow: /*aaa*{n}*!\n" for n in range(100))
    with Origin(Site(Answer(body=b"User-agent: *\n" + rules.encode()), ("/", "/frog", *long))) as origin:
        done = holdfast(*crawl(origin), cwd=tmp_path)
    assert done.code == 0, done.err
    assert [ends(tmp_path)[path][:2] for path in long] == [("skipped", "robots")] * 2
    assert ends(tmp_path)["/frog"][0] == "succeeded"
    out = holdfast("logs", "frogs", "--level", "warning", cwd=tmp_path).out
    assert out.count("event=robots_cut") == 1
    assert "too many rules with a star would have to be tried" in out
