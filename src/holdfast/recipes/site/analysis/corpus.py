"""What all pages of a site say together: facts by page, merged entities, passages by cue. Bounded and in page order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from holdfast.recipes.site.entities.extract import PageFacts
from holdfast.recipes.site.entities.mention import Entity
from holdfast.recipes.site.entities.merge import Merger
from holdfast.recipes.site.entities.passages import CUES, Passage

PAGES_MAX = 20_000
PASSAGES_PER_CUE_MAX = 200
_ORDER = ("home", "about", "team", "products", "services", "contact", "careers", "pricing", "customers", "news")


class PageLine(msgspec.Struct, frozen=True):
    """What a report says of one page. `words` and `lang` are 0 and empty where nothing was extracted from it."""

    url: str
    type: str
    title: str
    crawled_at: int
    depth: int = 0
    words: int = 0
    lang: str = ""
    entities: int = 0
    description: str = ""
    site_name: str = ""
    copyright_year: str = ""
    not_parsed: str = ""


@dataclass(slots=True)
class Corpus:
    """`seen`: each text once, whichever of its pages comes first in `_ORDER`, then by URL."""

    pages: list[PageLine] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    passages: dict[str, list[tuple[PageLine, Passage]]] = field(default_factory=lambda: {cue: [] for cue in CUES})
    mentions: int = 0
    beyond: int = 0  # mentions and pages that were too many to keep

    def of(self, kind: str) -> list[Entity]:
        return [entity for entity in self.entities if entity.type == kind]

    def page(self, url: str) -> PageLine | None:
        return next((page for page in self.pages if page.url == url), None)

    def typed(self, *types: str) -> list[PageLine]:
        return [page for page in self.pages if page.type in types]

    @property
    def home(self) -> PageLine | None:
        """The page to cite where something is missing everywhere."""
        homes = self.typed("home") or sorted(self.pages, key=lambda page: (page.depth, page.url))
        return homes[0] if homes else None

    @property
    def as_of(self) -> int:
        """When the newest page was fetched, wall ms: what "today" means to a report that is always the same."""
        return max((page.crawled_at for page in self.pages), default=0)


def corpus_of(pages: Iterable[tuple[PageLine, PageFacts | None]]) -> Corpus:
    """Pages with what was extracted from them, where something was."""
    corpus, merger = Corpus(), Merger()
    told: list[tuple[PageLine, PageFacts]] = []
    for line, facts in pages:
        if len(corpus.pages) >= PAGES_MAX:
            corpus.beyond += 1
            continue
        corpus.pages.append(line)
        if facts is not None:
            merger.add(facts)
            told.append((line, facts))
    corpus.entities, corpus.mentions = merger.entities(), merger.mentions
    corpus.beyond += merger.beyond
    _gather(corpus, told)
    return corpus


def _gather(corpus: Corpus, told: list[tuple[PageLine, PageFacts]]) -> None:
    seen: set[tuple[str, str]] = set()
    for line, facts in sorted(told, key=lambda pair: (_rank(pair[0]), pair[0].url)):
        for passage in facts.passages:
            kept = corpus.passages[passage.cue]
            if (passage.cue, passage.text) not in seen and len(kept) < PASSAGES_PER_CUE_MAX:
                seen.add((passage.cue, passage.text))
                kept.append((line, passage))


def _rank(page: PageLine) -> int:
    return _ORDER.index(page.type) if page.type in _ORDER else len(_ORDER)
