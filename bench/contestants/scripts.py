"""The peers: scripts that run in a child process and leave one JSON line per page.

They have an environment of their own, which `make bench` fills, so that no other command removes them from .venv.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.contestants.crawl import Arena, Crawl

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "build" / "bench" / "venv" / "bin" / "python"


@contextmanager
def by_hand(arena: Arena) -> Iterator[Crawl]:
    out = arena.folder / "pages.jsonl"
    yield _script("crawl_aiohttp.py", arena, out)


@contextmanager
def scrapy(arena: Arena) -> Iterator[Crawl]:
    out = arena.folder / "pages.jsonl"
    yield _script("crawl_scrapy.py", arena, out, str(arena.folder / "jobdir"))


def _script(name: str, arena: Arena, out: Path, *more: str) -> Crawl:
    if not PYTHON.exists():
        raise SystemExit("aiohttp and Scrapy are not there yet: `make bench` brings them in")
    argv = [str(PYTHON), str(HERE / name), arena.start, str(out), *more]
    return Crawl(argv=argv, result=lambda: (distinct_pages(out), {}))


def distinct_pages(out: Path) -> int:
    """Different URLs that were answered with 200; a page written twice counts once."""
    with out.open(encoding="utf-8") as lines:
        pages: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return len({page["url"] for page in pages if page["status"] == 200})
