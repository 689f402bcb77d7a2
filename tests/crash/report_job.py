"""A site job with a report over a made-up company. `python -m crash.report_job FOLDER DATABASE` works it.

Every request and every target that is made is a line of a log outside the ledger: the witness of what was done twice.
"""

from __future__ import annotations

import asyncio
import os
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

from crash.texts_kind import Log, open_ledger
from holdfast.blobs.segments import Segments
from holdfast.clock import Clock, SystemClock
from holdfast.engine import recovery
from holdfast.engine.session import Parts, Session, SessionEnd
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Job, JobSpec, Options
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed
from holdfast.ports import Ledger
from holdfast.recipe import Context, Fetch
from holdfast.recipes.site.extract_process import ExtractFailed
from holdfast.recipes.site.made import WITH_REPORT
from holdfast.recipes.site.recipe import SiteRecipe
from recipes.companies import company

NAME = "acme"
HEADERS = (("content-type", "text/html; charset=utf-8"),)
HOLD = int(os.environ.get("REPORT_HOLD", "0"))  # the section that is never done
LOG: Log | None = None  # of the job that is worked in this process
FAILS = os.environ.get("REPORT_FAILS", "")  # the extractor raises for this path
OPTIONS = Options(delay_ms=0, per_host=8, concurrency=1)


async def held() -> None:
    await asyncio.sleep(60)


class LoggedRecipe(SiteRecipe):
    """The site recipe; what it begins is written down. Entities are extracted in this process."""

    def __init__(self, log: Log) -> None:
        super().__init__(SystemClock(), extractor)
        self._log = log
        self._sections = 0

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        if here.type in WITH_REPORT.made:
            self._log.write(here.name)
        if here.type == "section":
            self._sections += 1
            if self._sections == HOLD:  # for a kill: those before it are settled meanwhile
                await held()
        return await super().step(here, fetch, context)


def extractor(url: str, body: bytes, content_type: str) -> bytes:
    import msgspec

    from holdfast.recipes.site.entities.extract import extract

    if FAILS and url.endswith(FAILS):
        raise ExtractFailed("a rule raised")
    if LOG is not None:
        LOG.write(f"extracted {url}")
    return msgspec.json.encode(extract(url, body, content_type))


class Web:
    """The company's site; `edition` is told by a file, so that a rescan finds another one. Fulfils `ports.Fetcher`."""

    def __init__(self, log: Log, folder: Path) -> None:
        self._log, self._folder = log, folder
        self._pages = company(1).pages

    async def fetch(self, request: Request) -> Response:
        body = self._pages.get(request.url)
        self._log.write(f"page {request.url}")
        if body is None:
            return Response(url=request.url, status=404, headers=HEADERS, body=b"")
        edition = self._folder / "edition"
        if edition.exists() and request.url.endswith("/about"):
            body += edition.read_bytes()
        etag = f'"{sha256(body).hexdigest()[:12]}"'
        if dict(request.headers).get("if-none-match") == etag:
            return Response(url=request.url, status=304, headers=HEADERS, body=b"")
        self._log.write(f"sent {request.url}")
        return Response(url=request.url, status=200, headers=(*HEADERS, ("etag", etag)), body=body)

    async def close(self) -> None:
        return None


def ready(ledger: Ledger, recipe: SiteRecipe) -> Job:
    seeds = [url for url in company(1).pages if "/products/" not in url]
    params = recipe.check({"seeds": seeds, "report": True, "exclude": ["/products/x-*", "/pricing", "/products/*-*"]})
    spec = JobSpec(
        recipe="site", name=NAME, identity=NAME, params=params, options=OPTIONS, chunking=recipe.chunking(params)
    )
    job = ledger.submit(spec)[0]
    row = recovery.outlook(ledger, job, recipe_known=True, asked=True)
    return recovery.make_ready(ledger, job, row, actor="user")


def worked(folder: Path, database: str, clock: Clock | None = None) -> SessionEnd:
    """Work the job, found or submitted, until it ends."""
    global LOG  # the extractor is a function, as the recipe wants it
    LOG = log = Log(folder / "log")
    recipe = LoggedRecipe(log)
    ledger = open_ledger(folder, database)
    job = ready(ledger, recipe)
    parts = Parts(
        open_ledger=lambda: open_ledger(folder, database), open_fetcher=lambda _name: Web(log, folder),
        blobs=Segments(folder / "segments", job.uid, f"{os.getpid():x}-{os.urandom(4).hex()}"), recipe=recipe,
        clock=clock or SystemClock(), progress=None, has_room=lambda: True, make_room=lambda: None, random=Random(7),
        lease_s=30.0, stop_deadline_s=5.0, trigger="cli",
    )  # fmt: skip
    try:
        return Session(job, parts).run()
    finally:
        LOG = None
        ledger.close()
        log.close()


if __name__ == "__main__":
    sys.exit(0 if worked(Path(sys.argv[1]), sys.argv[2]).how == "completed" else 1)
