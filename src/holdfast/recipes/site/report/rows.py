"""From the ledger's rows to a corpus: which page was fetched when, and what was extracted from it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.page import page_object
from holdfast.model.target import PageRow
from holdfast.recipes.site.analysis.corpus import Corpus, PageLine, corpus_of
from holdfast.recipes.site.entities.extract import PageFacts
from holdfast.recipes.site.made_types import EXTRACT, PAGE
from holdfast.recipes.site.page_types import page_type

DIGEST_BYTES = 8

_facts = msgspec.json.Decoder(PageFacts).decode
_encode = msgspec.json.Encoder().encode


class ReportRows:
    """Takes rows in any order. Everything that follows is in the order of URLs, whatever order pages were found in."""

    def __init__(self) -> None:
        self._pages: dict[str, PageLine] = {}
        self._facts: dict[str, PageFacts] = {}
        self._hashes: dict[str, bytes] = {}

    def add(self, row: PageRow) -> None:
        if row.kind == PAGE:
            self._pages[row.url] = page_line(row)
        elif row.kind == EXTRACT:
            self.add_facts(read_facts(row))

    def add_facts(self, facts: PageFacts) -> None:
        self._facts[facts.url] = facts
        self._hashes[facts.url] = hash_of(facts)

    def add_record(self, record: bytes) -> None:
        """A record that was made just now."""
        self.add_facts(_facts(record))

    @property
    def digest(self) -> str:
        return digest_of(self._hashes)

    @property
    def extracted(self) -> int:
        return len(self._facts)

    @property
    def pages(self) -> int:
        return len(self._pages)

    def urls_without_facts(self) -> list[str]:
        return sorted(self._pages.keys() - self._facts.keys())

    def corpus(self) -> Corpus:
        """A page that was not extracted, a PDF or an image, is a page all the same."""
        return corpus_of((self._line(url), self._facts.get(url)) for url in sorted(self._pages))

    def _line(self, url: str) -> PageLine:
        line, facts = self._pages[url], self._facts.get(url)
        if facts is None:
            return line
        return PageLine(
            url=url,
            type=facts.type,
            title=facts.title or line.title,
            crawled_at=line.crawled_at,
            depth=line.depth,
            words=facts.words,
            lang=facts.lang,
            entities=facts.count,
            description=facts.description,
            site_name=facts.site_name,
            copyright_year=facts.copyright_year,
            not_parsed=facts.not_parsed,
        )


def read_facts(row: PageRow) -> PageFacts:
    try:
        return _facts(row.record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"the entities of T-{row.target:x} cannot be read: {error}") from error


def page_line(row: PageRow) -> PageLine:
    record = msgspec.json.decode(row.record)
    title = record.get("title") or ""
    page_object(row)  # refuses a record that is not a page's
    return PageLine(row.url, page_type(row.url, title), title, int(record["fetched_at"]), row.depth)


def digest_of_rows(rows: Iterable[PageRow]) -> str:
    """What `ReportRows.digest` says of the same rows, without keeping them."""
    hashes = {}
    for row in rows:
        if row.kind == EXTRACT:
            facts = read_facts(row)
            hashes[facts.url] = hash_of(facts)
    return digest_of(hashes)


def hash_of(facts: PageFacts) -> bytes:
    """Of what a page says: other bytes that say the same, as with a new token in them, have the same hash."""
    return blake2b(_encode(msgspec.structs.replace(facts, made_of="")), digest_size=DIGEST_BYTES).digest()


def digest_of(hashes: dict[str, bytes]) -> str:
    """Of everything that was extracted: sections and a report are made anew exactly when it changes."""
    whole = blake2b(digest_size=DIGEST_BYTES)
    for url in sorted(hashes):
        whole.update(hashes[url])
    return whole.hexdigest() if hashes else ""
