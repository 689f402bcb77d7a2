"""The worked examples do what they say, and a kill changes nothing of what they give."""

from __future__ import annotations

from holdfast.testing import FakeWeb, prove, run_recipe
from holdfast.testing.fake_web import Said
from tidy.source_tree import ROOT

EXAMPLES = ROOT / "examples"
BOOKS, PER_PAGE = 40, 8


def forum(path: str) -> Said:
    kind, _, number = path.strip("/").partition("/")
    if kind == "t":
        return f"<h1>Thread {number}</h1>" + "<p class=post>croak</p>" * (int(number) % 3)
    n = int(number)
    threads = "".join(f'<a class="thread" href="/t/{n * 10 + i}">thread</a>' for i in range(10))
    return threads + (f'<a class="next" href="/b/{n + 1}">next</a>' if n < 4 else "")


def books(path: str) -> Said:
    """Five pages of eight books; each page also names the first book of all, and the last book is not there."""
    place, _, query = path.partition("?")
    if place == "/api/books":
        at = int(dict(part.split("=") for part in query.split("&")).get("at", 0))
        here = [*range(at, min(at + PER_PAGE, BOOKS)), 0]
        following = f"/api/books?size=8&at={at + PER_PAGE}" if at + PER_PAGE < BOOKS else None
        named = [{"isbn": f"978-{n}", "url": f"/api/book/{n}?seen={at}"} for n in here]
        return {"shelf": f"S{at}", "books": named, "next": following}
    number = int(place.rpartition("/")[2])
    return None if number == BOOKS - 1 else {"title": f"Book {number}", "pages": 100 + number}


def court(path: str) -> Said:
    number = int(path.split("-")[1])
    judges = "<li class=judge>Heron</li><li class=judge>Newt</li>"
    return 410 if number % 4 == 0 else f"<h1>Ruling {number}</h1><ul>{judges}</ul><time>2025-03-01</time>"


def test_the_forum_gives_every_thread_with_posts() -> None:
    with FakeWeb(forum) as web:
        proof = prove(EXAMPLES / "forum.py", web, start=f"{web.url}/b/1")
    threads = [n for n in range(10, 50) if n % 3]
    assert sorted(row["title"] for row in proof.records) == [f"Thread {n}" for n in threads]
    assert proof.asked_again == ()


def test_the_catalogue_gives_every_book_once_though_every_page_names_the_first() -> None:
    with FakeWeb(books) as web:
        worked = run_recipe(EXAMPLES / "catalogue_api.py", web, api=f"{web.url}/api/books", size="8")
        asked = [path for path in web.asked if path.startswith("/api/book/0?")]
    assert sorted(row["isbn"] for row in worked.records) == sorted(f"978-{n}" for n in range(BOOKS - 1))
    assert len(asked) == 1
    assert worked.by_status() == {"succeeded": BOOKS - 1 + BOOKS // PER_PAGE, "skipped": 1}
    assert {row["key"] for row in worked.targets if row["status"] == "skipped"} == {f"978-{BOOKS - 1}"}


def test_the_rulings_account_for_every_number_of_the_range() -> None:
    with FakeWeb(court) as web:
        proof = prove(EXAMPLES / "rulings.py", web, kills=2, court=web.url, last="60")
    assert {row["case"] for row in proof.records} == {f"IMM-{n}-25" for n in range(1, 61) if n % 4}
    assert proof.records[0]["judges"] == ["Heron", "Newt"]
    assert proof.killed.by_status() == {"succeeded": 45, "skipped": 15}
    assert "percent=100.0" in proof.undisturbed.said
