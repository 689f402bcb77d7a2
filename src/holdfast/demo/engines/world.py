"""The world `engines`: which keyword a query is about, what each engine answers, and what a perfect run keeps.

The world knows eight keywords with 400 images each, one with 12 (`dodo`) and one with none (`unicorn`). A query is
about the longest keyword in it; a query about none has no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from holdfast.demo.engines.files import PictureFiles
from holdfast.demo.engines.pool import FATES, PoolImage, make_pool
from holdfast.demo.engines.ranking import page_of, ranked
from holdfast.demo.engines.shapes import SIZES, SearchResult

POOL = 400
KEYWORDS = (
    "cat", "red panda", "lighthouse", "tide pool", "kelp", "teapot", "barn owl", "harbour crane", "dodo", "unicorn",
)  # fmt: skip
SCARCE = {"dodo": 12, "unicorn": 0}
ENGINES = tuple(SIZES)
# One loopback address each, so that each has a pace of its own; the port is the same everywhere.
ENGINE_HOSTS = {name: f"127.0.0.{2 + place}" for place, name in enumerate(ENGINES)}
IMAGE_HOSTS = tuple(f"127.0.0.{20 + place}" for place in range(8))
HOSTS = ("127.0.0.1", *ENGINE_HOSTS.values(), *IMAGE_HOSTS)

Question = tuple[str, str, int]  # engine, query, offset


@dataclass(frozen=True)
class EnginesWorld:
    """Fixed by its seed. `port` is where every host listens."""

    seed: int
    port: int
    pool_size: int = POOL

    @cached_property
    def files(self) -> PictureFiles:
        return PictureFiles(self.seed)

    @cached_property
    def pools(self) -> dict[str, tuple[PoolImage, ...]]:
        return {
            keyword: make_pool(self.seed, keyword, min(self.pool_size, SCARCE.get(keyword, self.pool_size)))
            for keyword in KEYWORDS
        }

    def origin(self, engine: str) -> str:
        return f"http://{ENGINE_HOSTS[engine]}:{self.port}"

    def keyword_of(self, query: str) -> str | None:
        words = f" {' '.join(query.lower().split())} "
        about = [keyword for keyword in KEYWORDS if f" {keyword} " in words]
        return max(about, key=len, default=None)

    def url(self, entry: PoolImage) -> str:
        way = "moved" if entry.kind == "redirect" else "img"
        name = f"{entry.number:04d}.{entry.extension}"
        return f"http://{IMAGE_HOSTS[entry.host]}:{self.port}/{way}/{quote(entry.keyword)}/{name}"

    def entry_at(self, path: str) -> PoolImage | None:
        """The entry that a path of an image host is about; a thumbnail's is its image's."""
        parts = unquote(path).split("/")
        if len(parts) != 4 or parts[1] not in ("img", "moved", "thumb") or parts[2] not in self.pools:
            return None
        digits, _, _ = parts[3].partition(".")
        pool = self.pools[parts[2]]
        return pool[int(digits)] if digits.isascii() and digits.isdigit() and int(digits) < len(pool) else None

    def numbers(self, engine: str, query: str) -> tuple[int, ...]:
        keyword = self.keyword_of(query)
        if keyword is None:
            return ()
        return ranked(self.seed, keyword, len(self.pools[keyword]), engine, query)

    def entries(self, question: Question) -> list[PoolImage]:
        """The page that a question is answered with in calm weather."""
        engine, query, offset = question
        keyword = self.keyword_of(query)
        page = page_of(engine, self.numbers(engine, query), offset, SIZES[engine])
        return [self.pools[keyword][number] for number in page] if keyword else []

    def result(self, entry: PoolImage) -> SearchResult:
        host = f"http://{IMAGE_HOSTS[entry.host]}:{self.port}"
        return SearchResult(
            image=self.url(entry),
            thumbnail=f"{host}/thumb/{quote(entry.keyword)}/{entry.number:04d}.jpg",
            page=f"{host}/pages/{quote(entry.keyword)}/{entry.number:04d}.html",
            title=f"{entry.keyword.title()} no. {entry.number} & friends",
            width=480,
            height=360,
        )

    def labels(self, keyword: str) -> list[dict[str, Any]]:
        """Every URL of a pool with what is the matter with it."""
        return [
            {"url": self.url(entry), "number": entry.number, "kind": entry.kind, "how": entry.how, "of": entry.of}
            for entry in self.pools[keyword]
        ]

    def perfect_run(self, rounds: Sequence[Sequence[Question]], wanted: int) -> dict[str, Any]:
        """What a run that asks these rounds in this order ends with, for one keyword.

        A round is a set of questions; its candidates are judged by rank, at equal ranks in the order of the questions.
        Rounds behind the one that reaches `wanted` are not asked.
        """
        fates: dict[str, dict[str, Any]] = {}
        kept: dict[int, PoolImage] = {}
        asked = 0
        for questions in rounds:
            if len(kept) >= wanted:
                break
            asked += 1
            for question, rank, entry in self._in_order(questions):
                url = self.url(entry)
                if url not in fates:
                    fate = {"disposition": "surplus"} if len(kept) >= wanted else self._fate(entry, kept)
                    fates[url] = {"url": url, "question": list(question), "rank": rank, **fate}
        return {
            "rounds_asked": asked,
            "health": "ok" if len(kept) >= wanted else "partial",
            "kept": [{**fates[self.url(entry)], "sha256": self._sha256(entry)} for entry in kept.values()],
            "urls": list(fates.values()),
        }

    def _in_order(self, questions: Sequence[Question]) -> list[tuple[Question, int, PoolImage]]:
        found = [
            (rank, place, question, entry)
            for place, question in enumerate(questions)
            for rank, entry in enumerate(self.entries(question))
        ]
        return [(question, rank, entry) for rank, _, question, entry in sorted(found, key=lambda one: one[:2])]

    def _fate(self, entry: PoolImage, kept: dict[int, PoolImage]) -> dict[str, Any]:
        """The entry's fate when its turn comes; one that is kept is put into `kept`, by its family."""
        if entry.kind in FATES:
            disposition, reasons = FATES[entry.kind]
            return {"disposition": disposition, "reasons": list(reasons)}
        if entry.family in kept:
            first = kept[entry.family]
            equal = "near_duplicate" not in (entry.kind, first.kind)
            method = "content" if equal else "perceptual"
            return {"disposition": "duplicate", "duplicate_of": self.url(first), "detection_method": method}
        kept[entry.family] = entry
        return {"disposition": "image"}

    def _sha256(self, entry: PoolImage) -> str:
        return sha256(self.files.body(entry, self.pools[entry.keyword])).hexdigest()
