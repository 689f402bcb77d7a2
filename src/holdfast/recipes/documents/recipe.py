"""The `documents` recipe: every document that a list names, as a checked file under a name that follows from its key.

The plan reads the stored versions of the list (planning.py). A row either names its file, or a site client is asked
for the address of its token; the rest of the step is the same for both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath
from queue import LifoQueue
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, Corrupt, FetchError, PlanFailed
from holdfast.model.artifact import FetchedFile, Keep
from holdfast.model.job import ONE_PHASE, Phases
from holdfast.model.keys import Address, canonical
from holdfast.model.outcome import Done, Failed, Outcome, Record
from holdfast.model.redaction import redacted, redacted_end
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch
from holdfast.recipes.column_names import check_fields
from holdfast.recipes.custom.fetching import StepPages
from holdfast.recipes.documents.browser_client import BrowserClient
from holdfast.recipes.documents.columns import FIELDS, read_columns
from holdfast.recipes.documents.list_file import ListShape
from holdfast.recipes.documents.lists import META, Entry
from holdfast.recipes.documents.options import OWN_PARAMS
from holdfast.recipes.documents.paths import file_path
from holdfast.recipes.documents.pdf_process import PdfProcess
from holdfast.recipes.documents.planning import planned
from holdfast.recipes.documents.record import DocumentRecord, Planned
from holdfast.recipes.documents.site_client import PAGES, DocumentSiteClient, WordPressClient
from holdfast.recipes.documents.skipping import read_filter
from holdfast.recipes.documents.sniffing import SAMPLE_BYTES, Sample, kind_named
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.validation import FileVerdict, check_file
from holdfast.recipes.documents.versions import SOURCES

DEFAULTS: dict[str, Any] = {
    "list": "",
    "source": "",
    "columns": {},
    "skip_where": "",
    "site": "",
    "hosts": [],
    "versions": [],
    "planned": 0,
}
EXPIRED = (401, 403, 404, 410)  # how a file host answers for a signed address that is over
PDFS_AT_ONCE = 3  # processes that open them, in one worker
ASKS_MAX = 2  # for an address, within one attempt
MEDIA = {"pdf": "application/pdf", "zip": "application/zip", "png": "image/png", "jpg": "image/jpeg",
         "gif": "image/gif", "csv": "text/csv", "json": "application/json", "txt": "text/plain",
         "html": "text/html"}  # fmt: skip
NAME_LENGTH_MAX = 80


class DocumentsRecipe:
    """Fulfils `recipe.AnyRecipe`."""

    name = "documents"
    seeks = True
    names_targets = True
    compares = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._clients: dict[tuple[str, str, bool], DocumentSiteClient] = {}
        self._looking = asyncio.Semaphore(PDFS_AT_ONCE)
        self._pdfs: LifoQueue[PdfProcess] = LifoQueue()  # the one that was used last goes first: it has a process
        for _ in range(PDFS_AT_ONCE):
            self._pdfs.put(PdfProcess())

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name not in DEFAULTS and name not in OWN_PARAMS:
                raise BadParams(f"documents have no parameter {name!r}", hint="list columns skip_where source site")
        checked = DEFAULTS | params
        if isinstance(checked["columns"], str):
            checked["columns"] = read_columns(checked["columns"])
        check_fields(checked["columns"], FIELDS)
        read_filter(checked["skip_where"])
        if not checked["list"]:
            raise BadParams(
                "docs needs a list: a CSV file, its URL, or the name of a source", hint="holdfast docs list.csv"
            )
        checked["source"] = checked["source"] or source_of(checked["list"])
        return checked

    def identity(self, params: dict[str, Any]) -> str:
        return f"documents:{params['list']}"

    def default_name(self, params: dict[str, Any]) -> str:
        """The source, where somebody gave it a name; else the stem of the list: `judgments.csv` makes `judgments`."""
        source = str(params["source"])
        if source not in ("", *SOURCES, source_of(params["list"])):
            return re.sub(r"[^A-Za-z0-9._-]+", "-", source).strip("-.")[:NAME_LENGTH_MAX] or self.name
        stem = PurePosixPath(str(params["list"]).partition("?")[0].replace("\\", "/")).stem
        return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:NAME_LENGTH_MAX] or self.name

    def chunking(self, params: dict[str, Any]) -> str:
        return "key"

    def chunks(self, params: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def phases(self, params: dict[str, Any]) -> Phases:
        return ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        return False

    def planned_total(self, params: dict[str, Any]) -> int | None:
        return params["planned"] or None

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        return tuple(url for url in (params["list"], params["site"]) if "://" in url)

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        params = context.params
        versions = params["versions"] or [params["list"]]  # a job has versions; what is only shown has its list
        try:
            paths = [context.kept(name) for name in versions]  # of a job that is worked, below its folder only
            for name, entry, version in islice(planned(paths, ListShape.of(params)), start, None):
                yield self._found(context, name, entry, versions[version])
        except (OSError, Corrupt, ListRefused, BadParams) as error:
            raise PlanFailed(f"the list cannot be read: {error}") from error

    def _found(self, context: Context, name: str, entry: Entry, version: str) -> Found:
        address = canonical(entry.url) if entry.url else self._home(context)
        if address is None:
            raise BadParams(f"{entry.url or context.params['site']!r} is not an http or https URL")
        doc = Planned(entry.key, entry.token, metadata_of(entry), PurePosixPath(version).name)
        kind = "document" if entry.token else "file"
        return context.named(address, type=kind, name=name, params=msgspec.json.encode(doc).decode())

    def _home(self, context: Context) -> Address | None:
        return canonical(self._client(context).home)

    def _client(self, context: Context) -> DocumentSiteClient:
        """One for all cases of a job (DOC-17): in a browser where the job has one, else over plain HTTP."""
        site, source = context.params["site"], context.params["source"]
        if not site:
            raise BadParams(
                "the rows of this list have no address of a file, and there is no site to ask for them",
                hint="--columns url=COLUMN where a column has the addresses; or --site URL",
            )
        known = self._clients.get((site, source, context.browser))
        if known is not None:
            return known
        page, hosts = canonical(PAGES.get(source, PAGES["unreported_judgments"]), site), context.params["hosts"]
        assert page is not None
        made: DocumentSiteClient = WordPressClient(page.url, hosts=hosts)
        if context.browser:
            made = BrowserClient(page.url, hosts=hosts, barring=context.barring)
        self._clients[site, source, context.browser] = made
        return made

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        doc = msgspec.json.decode(here.params, type=Planned)
        pages = StepPages(here, fetch, self._clock)
        if here.type == "file":
            fetched = await pages.file(here.url)
        else:
            fetched = await self._signed(doc.token, self._client(context), pages, fetch)
        return await self._judged(here, doc, fetched, context)

    async def _signed(self, token: str, client: DocumentSiteClient, pages: StepPages, fetch: Fetch) -> FetchedFile:
        """An address that is over when it is used is asked for once more, within the attempt (DOC-18)."""
        for ask in range(ASKS_MAX):
            address = await client.address(token, fetch, self._clock.wall_ms())
            try:
                return await pages.file(address, into=token)
            except FetchError as error:
                if error.status not in EXPIRED:
                    raise
                if ask == ASKS_MAX - 1:
                    message = f"HTTP {error.status} at {redacted(address)}, twice with a new address"
                    raise FetchError("invalid_signed_url", message, status=error.status) from None
        raise AssertionError

    async def _judged(self, here: Claimed, doc: Planned, fetched: FetchedFile, context: Context) -> Outcome:
        expected = "pdf" if doc.token else kind_named(here.url)
        verdict = await self._checked(fetched, expected)
        if not verdict.ok:
            fetched.let_go()
            return Failed(verdict.code, verdict.message, fetched.status)
        suffix = verdict.kind or PurePosixPath(here.url.partition("?")[0]).suffix.lstrip(".") or "bin"
        name = file_path(context.params["source"], here.name, suffix)
        media = MEDIA.get(verdict.kind) or fetched.media or "application/octet-stream"
        record = DocumentRecord(
            key=doc.key,
            url=redacted(here.url) if doc.token else here.url,
            final_url=redacted(fetched.url) if doc.token else redacted_end(here.url, fetched.url),
            path=f"artifacts/{name}",
            sha256=fetched.sha256.hex(),
            bytes=fetched.size,
            content_type=media,
            pages=verdict.pages,
            title=doc.metadata.get("title", ""),
            metadata=doc.metadata,
            status_code=fetched.status,
            fetched_at=self._clock.wall_ms(),
            list_version=doc.version,
        )
        keep = Keep(fetched, role="document", name=name, media=media, url=record.final_url)
        record_row = Record("document", msgspec.json.encode(record))
        return Done("downloaded", records=(record_row,), files=(keep,), status_code=fetched.status)

    async def _checked(self, fetched: FetchedFile, expected: str) -> FileVerdict:
        """The loop goes on meanwhile, and one file that takes long to open holds up no others."""
        sample = Sample(fetched.size, *fetched.ends(SAMPLE_BYTES))
        if not sample.head.startswith(b"%PDF"):
            return check_file(sample, expected)
        async with self._looking:
            return await asyncio.to_thread(self._opened, sample, expected, str(fetched.path))

    def _opened(self, sample: Sample, expected: str, path: str) -> FileVerdict:
        """In a thread, which alone knows when its process is free again: a step may be cancelled before."""
        pdfs = self._pdfs.get()
        try:
            return check_file(sample, expected, path=path, look=pdfs)
        finally:
            self._pdfs.put(pdfs)


def source_of(place: str) -> str:
    """By what the versions and files of somebody's own list are known: two lists of one name are two sources."""
    stem = PurePosixPath(place.partition("?")[0].replace("\\", "/")).stem.lower()
    plain = re.sub(r"[^a-z0-9]+", "_", stem).strip("_")[:40] or "list"
    return f"{plain}_{sha256(place.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def metadata_of(entry: Entry) -> dict[str, str]:
    """What the list says of a document: the known fields that it has, then its other columns as it names them."""
    known = {name: value for name in META if (value := getattr(entry, name))}
    if entry.judgment_date_raw and not entry.judgment_date:
        known["judgment_date"] = entry.judgment_date_raw
    return known | {name: cell for name, cell in entry.row.items() if cell.strip() and cell not in known.values()}
