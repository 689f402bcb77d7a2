"""What real sites are made of, through the real command: refreshes, frames, dead ends, nofollow (FRO-13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import Done, holdfast
from cli.polite_origin import Answer, Origin, linking

HTML = {"content-type": "text/html"}
MISSING = Answer(404)


def page(text: str, **headers: str) -> Answer:
    return Answer(200, text.encode(), {**HTML, **{name.replace("_", "-"): value for name, value in headers.items()}})


def crawled(folder: Path, pages: dict[str, Answer], *more: str) -> tuple[Done, list[str]]:
    """The command's end, and what the site was asked for."""
    with Origin(lambda path: pages.get(path, MISSING)) as origin:
        words = ("crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs", *more)
        done = holdfast(*words, cwd=folder)
        return done, sorted(path for path in origin.paths() if path != "/robots.txt")


def explained(folder: Path, url: str) -> dict[str, object]:
    found: dict[str, object] = holdfast("explain", "frogs", url, "--json", cwd=folder).json()
    return found


def test_a_site_behind_a_refresh_and_a_frameset_is_crawled(tmp_path: Path) -> None:
    """FRO-13: the start page of the JDK's documentation, and of many a javadoc."""
    pages = {
        "/": page('<meta http-equiv="refresh" content="0;url=api/index.html">'),
        "/api/index.html": page("<frameset><frame src=list.html><frame src=main.html></frameset>"),
        "/api/list.html": linking("/api/a", "/api/b"),
        "/api/main.html": linking("/api/a"),
        "/api/a": linking("/"),
        "/api/b": linking("/"),
    }
    done, asked = crawled(tmp_path, pages)
    assert (done.code, asked) == (0, sorted(pages)), done.err
    assert "refreshes to" in str(explained(tmp_path, "/")["because"])
    there = explained(tmp_path, "/api/index.html")
    assert (there["depth"], str(there["found_on"]).endswith("/")) == (0, True)


def test_refreshes_without_end_come_to_an_end(tmp_path: Path) -> None:
    """FRO-13: as redirects do."""

    def answer(path: str) -> Answer:
        number = int(path[1:] or 0) if path[1:].isdigit() or path == "/" else -1
        return page(f"<meta http-equiv=refresh content=0;/{number + 1}>") if number >= 0 else MISSING

    with Origin(answer) as origin:
        words = ("crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs")
        done = holdfast(*words, cwd=tmp_path)
        assert len([path for path in origin.paths() if path != "/robots.txt"]) == 11
    assert done.code == 3
    assert explained(tmp_path, "/11")["verdict"] == "over_cap"


@pytest.mark.parametrize(
    ("start", "cause"),
    [
        ("<title>App</title><div id=root></div><script src=/app.js></script>", "no link to another page stands in its"),
        ("<a href=https://pond.test/>Pond</a>", "all 1 links of its HTML lead out of the scope host"),
        ("<meta name=robots content=nofollow><a href=/a>a</a>", "it asks for its links not to be followed"),
    ],
)
def test_a_job_of_nothing_but_its_html_seed_exits_with_3_and_says_why(tmp_path: Path, start: str, cause: str) -> None:
    """FRO-13: one page that should have been ten thousand must not pass for a good crawl."""
    done, _ = crawled(tmp_path, {"/": page(start)}, "--json")
    assert (done.code, done.json()["status"], done.json()["health"]) == (3, "completed", "suspicious")
    assert f"nothing but what it began with came out of it: {cause}" in done.err


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (page("<p>x"), ("--max-pages", "1")),
        (page("<p>x"), ("--max-depth", "0")),
        (page("<a href=/x>"), ("--exclude", "/x")),
        (Answer(200, b"frogs", {"content-type": "text/plain"}), ()),
        (Answer(200, b"%PDF-1.7", {"content-type": "application/pdf"}), ()),
    ],
)
def test_one_page_that_is_all_that_was_asked_for_is_ok(tmp_path: Path, start: Answer, more: tuple[str, ...]) -> None:
    """FRO-13."""
    done, _ = crawled(tmp_path, {"/": start}, "--json", *more)
    assert (done.code, done.json()["health"]) == (0, "ok"), done.err


def test_links_of_a_page_with_nofollow_are_left_told_and_explained(tmp_path: Path) -> None:
    """And the page behind them is fetched if another page leads there."""
    pages = {
        "/": linking("/shy", "/a"),
        "/shy": page("<a href=/a>a</a><a href=/hidden>h</a>", x_robots_tag="nofollow"),
        "/a": linking("/"),
        "/hidden": linking("/"),
    }
    done, asked = crawled(tmp_path, pages)
    assert (done.code, asked) == (0, ["/", "/a", "/shy"]), done.err
    assert "nofollow: the links of 1 page were left, as asked" in done.err
    found = explained(tmp_path, "/hidden")
    assert (found["verdict"], found["rule"]) == ("robots", "nofollow")
    assert "/shy" in str(found["because"])
    assert "--nofollow off --mode full" in str(found["undo"])


@pytest.mark.parametrize("option", [("--nofollow", "off"), ("--ignore-robots",)])
def test_nofollow_is_not_obeyed_where_that_was_asked_for(tmp_path: Path, option: tuple[str, ...]) -> None:
    pages = {
        "/": page("<meta name=robots content=none><a href=/a>a</a>"),
        "/a": linking("/"),
    }
    done, asked = crawled(tmp_path, pages, *option)
    assert (done.code, asked) == (0, ["/", "/a"]), done.err
