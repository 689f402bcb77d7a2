"""A toy kind of two phases, and a process that works it: pages are fetched, then a text is made of each stored body.

Every request and every text that is made is a line of a log outside the ledger: the witness of what was done twice.
`python -m crash.texts_kind FOLDER DATABASE` works the job until it ends, or until it is killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from holdfast.blobs.segments import Segments
from holdfast.clock import SystemClock
from holdfast.engine import recovery
from holdfast.engine.liveness import boot_id
from holdfast.engine.session import Parts, Session
from holdfast.ledger.postgres import PostgresLedger
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Job, JobSpec, Options, Phases
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Body, Done, Outcome, Record
from holdfast.model.target import Claimed, Found
from holdfast.ports import Ledger, SessionEnd
from holdfast.recipe import Context, Fetch

PAGES = int(os.environ.get("TEXTS_PAGES", "60"))
OPTIONS = Options(delay_ms=0, per_host=64, concurrency=8)
SLOW_S = float(os.environ.get("TEXTS_SLOW_S", "0.004"))


class TextsRecipe:
    """Fulfils `recipe.AnyRecipe`."""

    name = "texts"
    seeks = True
    names_targets = True
    compares = False

    def __init__(self, log: Log) -> None:
        self._log = log

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        return params

    def identity(self, params: dict[str, Any]) -> str:
        return "texts"

    def default_name(self, params: dict[str, Any]) -> str:
        return "texts"

    def chunking(self, params: dict[str, Any]) -> str:
        return "key"

    def phases(self, params: dict[str, Any]) -> Phases:
        return Phases(("crawling", "extracting"), ("text",))

    def in_levels(self, params: dict[str, Any]) -> bool:
        return False

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        if context.phase == "crawling":
            for n in range(start, PAGES):
                yield context.found(seed_address(f"https://marsh.test/frog/{n}"), depth=0)
        else:
            pages = (row for row in context.settled() if row.type == "page")
            for row in islice(pages, start, None):
                params = msgspec.json.encode({"target": row.target, "url": row.url}).decode()
                yield context.made(f"text/{row.target}/{row.sha256.hex()[:16]}", type="text", params=params)

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        return await (self._page(here, fetch) if here.type == "page" else self._text(here, context))

    async def _page(self, here: Claimed, fetch: Fetch) -> Outcome:
        answer = await fetch(here.url)
        body = Body(here.url, 200, answer.headers, answer.body, b"", "text/plain", SystemClock().wall_ms())
        return Done("page", records=(Record("page", b"{}"),), body=body, status_code=200)

    async def _text(self, here: Claimed, context: Context) -> Outcome:
        assert context.stored is not None
        of = msgspec.json.decode(here.params)
        self._log.write(f"text {of['url']}")
        await asyncio.sleep(SLOW_S)
        body = await context.stored(of["target"])
        doc = msgspec.json.encode({"of": of["url"], "sha256": sha256(body).hexdigest(), "words": len(body.split())})
        return Done("entities", records=(Record("text", doc),))


class Log:
    """One write per line, so that a kill leaves whole lines."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, line: str) -> None:
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._file)


class Web:
    """A site that is a function. Fulfils `ports.Fetcher`."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def fetch(self, request: Request) -> Response:
        if request.url.endswith("/robots.txt"):
            return Response(url=request.url, status=404, headers=(), body=b"")
        self._log.write(f"page {request.url}")
        await asyncio.sleep(SLOW_S)
        return Response(url=request.url, status=200, headers=(), body=body_of(request.url))

    async def close(self) -> None:
        return None


def body_of(url: str) -> bytes:
    return f"croak {url} ".encode() * 50


def open_ledger(folder: Path, database: str) -> Ledger:
    if database == "sqlite":
        return SqliteLedger.open(folder / "ledger.db", SystemClock(), boot_id())
    return PostgresLedger.open(database, None, boot_id())


def worked(
    folder: Path,
    database: str,
    *,
    log_name: str = "log",
    workers: int = 1,
    place: int = 0,
    web: Callable[[Log], Web] = Web,
) -> SessionEnd:
    """Work the job, found or submitted, in this process until it ends; as the one at `place` of so many workers."""
    log = Log(folder / log_name)
    recipe = TextsRecipe(log)
    ledger = open_ledger(folder, database)
    job = ready(ledger, recipe)
    parts = Parts(
        open_ledger=lambda: open_ledger(folder, database), open_fetcher=lambda _name: web(log),
        blobs=Segments(folder / "segments", job.uid, f"{os.getpid():x}-{os.urandom(4).hex()}"), recipe=recipe,
        clock=SystemClock(), progress=None, has_room=lambda: True, make_room=lambda: None, random=Random(7),
        lease_s=30.0, stop_deadline_s=5.0, trigger="cli", workers=workers, place=place,
    )  # fmt: skip
    try:
        return Session(job, parts).run()
    finally:
        ledger.close()
        log.close()


def ready(ledger: Ledger, recipe: TextsRecipe) -> Job:
    """The job, found or submitted, and begun."""
    spec = JobSpec(
        recipe=recipe.name, name="texts", identity="texts", params={}, options=OPTIONS, chunking=recipe.chunking({})
    )
    job = ledger.submit(spec)[0]
    row = recovery.outlook(ledger, job, recipe_known=True, asked=True)
    return recovery.make_ready(ledger, job, row, actor="user")


if __name__ == "__main__":
    sys.exit(0 if worked(Path(sys.argv[1]), sys.argv[2]).how == "completed" else 1)
