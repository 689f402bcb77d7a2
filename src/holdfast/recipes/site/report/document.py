"""The report as a document (SIT-08): company, sections, entities, pages. The same pages give the same document.

It is kept as a record, so its lists are bounded; what was left out is counted in its metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from holdfast.clock import iso
from holdfast.recipes.site.analysis.company import company_of
from holdfast.recipes.site.analysis.corpus import Corpus, PageLine
from holdfast.recipes.site.analysis.section import Section
from holdfast.recipes.site.analysis.sections import SECTIONS
from holdfast.recipes.site.entities.extract import RULES
from holdfast.recipes.site.entities.mention import TYPES, Entity

SCHEMA = "holdfast.report/1"
ENTITIES_MAX = 3_000
SOURCES_MAX = 5
PAGES_MAX = 5_000


def report_document(corpus: Corpus, sections: Iterable[Section]) -> dict[str, Any]:
    """`missing` are sections that could not be made: a report is built from those that are there (SIT-01)."""
    made = {section.key: section for section in sections}
    entities = _chosen(corpus.entities)
    return {
        "schema": SCHEMA,
        "company": company_of(corpus).document(),
        "analysis": {
            "sections": {key: section_document(made[key]) for key in SECTIONS if key in made},
            "missing": [key for key in SECTIONS if key not in made],
        },
        "entities": [entity_document(entity) for entity in entities],
        "pages": [page_document(page) for page in corpus.pages[:PAGES_MAX]],
        "metadata": {
            "as_of": iso(corpus.as_of),
            "rules": RULES,
            "pages": len(corpus.pages),
            "entities": len(corpus.entities),
            "mentions": corpus.mentions,
            "entities_by_type": _by_type(corpus.entities),
            "pages_by_type": dict(sorted(Counter(page.type for page in corpus.pages).items())),
            "entities_left_out": len(corpus.entities) - len(entities),
            "pages_left_out": max(0, len(corpus.pages) - PAGES_MAX),
            "mentions_left_out": corpus.beyond,
        },
    }


def section_document(section: Section) -> dict[str, Any]:
    return dict(msgspec.to_builtins(section))


def entity_document(entity: Entity) -> dict[str, Any]:
    """`source` is the best page; `context` its passage."""
    best = entity.sources[0]
    return {
        "type": entity.type,
        "value": entity.value,
        "context": best.passage,
        "source": best.url,
        "confidence": entity.confidence,
        "count": entity.count,
        "detail": entity.detail,
        "names": list(entity.names),
        "sources": [msgspec.to_builtins(seen) for seen in entity.sources[:SOURCES_MAX]],
    }


def page_document(page: PageLine) -> dict[str, Any]:
    return {
        "url": page.url,
        "type": page.type,
        "title": page.title,
        "crawled_at": iso(page.crawled_at),
        "depth": page.depth,
        "words": page.words,
        "lang": page.lang,
        "entities": page.entities,
    }


def _chosen(entities: list[Entity]) -> list[Entity]:
    """Of very many, those that most pages name, of every type its share; in their order."""
    if len(entities) <= ENTITIES_MAX:
        return entities
    share = ENTITIES_MAX // len(TYPES)
    counts: Counter[str] = Counter()
    kept = []
    for entity in entities:
        counts[entity.type] += 1
        if counts[entity.type] <= share:
            kept.append(entity)
    return kept


def _by_type(entities: list[Entity]) -> dict[str, int]:
    counts = Counter(entity.type for entity in entities)
    return {kind: counts[kind] for kind in TYPES}
