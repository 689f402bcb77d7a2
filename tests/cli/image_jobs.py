"""What suites of images jobs share: the world of engines, the oracle's word, and what was asked of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from cli.commands import Done, holdfast
from holdfast.demo.serving import WorldServer
from holdfast.recipes.images.plan import Plan

QUICK = ("--allow-private", "--delay", "0", "--concurrency", "16", "--per-host", "8")
SEARCHES = ("/search", "/images/search", "/search/acjson", "/i.js")


def configure(folder: Path, world: WorldServer) -> None:
    """A folder whose engines are those of the world."""
    origins = world.oracle()["engines"]
    lines = [f'engines.{name}.base_url = "{url}"\n' for name, url in origins.items()]
    (folder / "holdfast.toml").write_text("".join(lines) + 'http.idle_timeout = "2s"\n')


def run(folder: Path, *words: str, **env: str) -> Done:
    return holdfast(*words, cwd=folder, **env)


def perfect(world: WorldServer, keyword: str, wanted: int) -> dict[str, str]:
    """URL -> sha256 of what a perfect run of the default plan keeps."""
    rounds = [[(q.engine, q.query, q.offset) for q in each] for each in Plan().rounds(keyword)]
    return {row["url"]: row["sha256"] for row in world.perfect_run(rounds[:40], wanted)["kept"]}


def kept(folder: Path, job: str, **env: str) -> dict[str, dict[str, str]]:
    """keyword -> URL -> sha256, as they are exported."""
    done = run(folder, "export", job, "-o", "-", **env)
    assert done.code == 0, done.err
    found: dict[str, dict[str, str]] = {}
    for row in map(json.loads, done.out.splitlines()):
        found.setdefault(row["keyword"], {})[row["url"]] = row["sha256"]
    return found


def asked(world: WorldServer) -> tuple[Counter[str], Counter[str]]:
    """How often each page of an engine, and each image, was asked for. The token of a page is none of its own."""
    searches: Counter[str] = Counter()
    images: Counter[str] = Counter()
    for line in world.asks():
        if page := page_of(line["key"]):
            (images if is_image(line["key"]) else searches)[page] += 1
    return searches, images


def page_of(url: str) -> str:
    """What a request is for: an image by its URL, a page of an engine without its token; "" is neither."""
    parts = urlsplit(url)
    if parts.path in SEARCHES:
        question = "&".join(part for part in parts.query.split("&") if not part.startswith("vqd="))
        return f"{parts.netloc}{parts.path}?{question}"
    return url if is_image(url) else ""


def is_image(url: str) -> bool:
    return urlsplit(url).path.startswith(("/img/", "/moved/"))
