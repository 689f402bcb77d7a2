"""The entities of all pages made one list: each once, with how many pages name it and where. Bounded, deterministic."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.recipes.site.entities.extract import PageFacts
from holdfast.recipes.site.entities.mention import TYPES, Entity, Mention, PageMention
from holdfast.recipes.site.entities.organisations import org_key
from holdfast.recipes.site.entities.places import address_key

ENTITIES_MAX = 20_000  # distinct ones that are kept; those of later pages are counted only
SOURCES_MAX = 50  # pages named per entity
MORE_PAGES = 0.02  # what every further page adds to the confidence
SURE_MAX = 0.99
_KEYS = {"org": org_key, "address": address_key}


class Merger:
    """Takes pages one by one, in their order. Memory is bounded by ENTITIES_MAX times SOURCES_MAX."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], _Gathered] = {}
        self.beyond = 0  # mentions of entities that were not kept
        self.mentions = 0

    def add(self, page: PageFacts) -> None:
        for mention in page.entities:
            self.mentions += 1
            key = (mention.type, key_of(mention))
            gathered = self._found.get(key)
            if gathered is None:
                if len(self._found) >= ENTITIES_MAX:
                    self.beyond += 1
                    continue
                gathered = self._found[key] = _Gathered()
            gathered.add(mention, page.url)

    def entities(self) -> list[Entity]:
        """By type as TYPES has them; within one, what most pages name first."""
        merged = [gathered.entity() for gathered in self._found.values()]
        return sorted(merged, key=lambda each: (TYPES.index(each.type), -each.count, -each.confidence, each.value))


def merged(pages: Iterable[PageFacts]) -> list[Entity]:
    merger = Merger()
    for page in pages:
        merger.add(page)
    return merger.entities()


def key_of(mention: Mention) -> str:
    make = _KEYS.get(mention.type)
    return make(mention.value) if make else mention.value.casefold()


class _Gathered:
    def __init__(self) -> None:
        self.pages: dict[str, tuple[float, Mention]] = {}
        self.count = 0
        self.values: dict[str, int] = {}
        self.details: dict[str, dict[str, int]] = {}
        self.kind = ""
        self._urls: set[str] = set()

    def add(self, mention: Mention, url: str) -> None:
        self.kind = mention.type
        self.values[mention.value] = self.values.get(mention.value, 0) + 1
        for name, value in mention.detail.items():
            of_name = self.details.setdefault(name, {})
            of_name[value] = of_name.get(value, 0) + 1
        if url not in self.pages:
            self.count += 1
            if len(self.pages) < SOURCES_MAX:
                self.pages[url] = (mention.confidence, mention)

    def entity(self) -> Entity:
        order = sorted(self.pages.items(), key=lambda item: (-item[1][0], item[1][1].at < 0, item[0]))
        best = max(confidence for confidence, _ in self.pages.values())
        names = sorted(self.values, key=lambda name: (-self.values[name], -len(name), name))
        return Entity(
            type=self.kind,
            value=names[0],
            confidence=round(min(SURE_MAX, best + MORE_PAGES * (self.count - 1)), 2),
            count=self.count,
            sources=tuple(PageMention(url, each.passage, each.at, each.how) for url, (_, each) in order),
            detail={name: min(said, key=lambda one: (-said[one], one)) for name, said in sorted(self.details.items())},
            names=tuple(names[1:6]),
        )
