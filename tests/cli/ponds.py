"""Recipes and webs that the suites of `run` and `cases` share."""

from __future__ import annotations

from pathlib import Path

from holdfast.testing.fake_web import FakeWeb, Said

FORUM = """
from holdfast.recipe import Recipe, record, skip, target
forum = Recipe("forum", params={"start": str})

@forum.plan
def plan(params):
    yield target(params["start"], type="board")

@forum.step("board")
async def board(here, fetch):
    page = await fetch(here.url)
    for link in page.links("a.thread"):
        yield target(link, type="thread")
    for link in page.links("a.next"):
        yield target(link, type="board")

@forum.step("thread")
async def thread(here, fetch):
    page = await fetch(here.url)
    yield record(title=page.text("h1"), posts=len(page.css(".post"))) if page.css(".post") else skip("no_record")
"""
BOARDS, THREADS = 6, 10


def forum_page(path: str) -> Said:
    """Six boards of ten threads; a thread whose number can be divided by four has no posts."""
    kind, _, number = path.strip("/").partition("/")
    if kind == "t":
        return f"<h1>Thread {number}</h1>" + "<p class=post>croak</p>" * (int(number) % 4)
    if kind != "b":
        return None
    n = int(number)
    threads = "".join(f'<a class="thread" href="/t/{n * THREADS + i}">thread</a>' for i in range(THREADS))
    return threads + (f'<a class="next" href="/b/{n + 1}">next</a>' if n < BOARDS else "")


def write(folder: Path, text: str = FORUM, name: str = "forum.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def forum_words(web: FakeWeb, *more: str, file: str = "forum.py") -> list[str]:
    return ["run", file, "--param", f"start={web.url}/b/1", "--name", "frogs", *web.options, *more]
