"""A section as a value: statements, each with the passages it stands on, none without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from holdfast.recipes.site.analysis.corpus import Corpus, PageLine
from holdfast.recipes.site.entities.mention import Entity
from holdfast.recipes.site.entities.passages import Passage

SOURCES_PER_STATEMENT = 4
RULES = "rules"


class Quotation(msgspec.Struct, frozen=True, gc=False):
    """A passage of a stored page, letter by letter. `at` is its place in the visible text, -1: in the markup."""

    url: str
    passage: str
    at: int


class Statement(msgspec.Struct, frozen=True, gc=False):
    """`sources` are places in the section's list of evidence. `quote`: the words are the page's own."""

    text: str
    sources: tuple[int, ...]
    confidence: float
    quote: bool = False
    topic: str = ""


class Section(msgspec.Struct, frozen=True):
    """SIT-07. `content` is Markdown of the statements; `made_by` is `rules`, or the model that worded it, asked by a
    `prompt` of that hash; `not_worded` says why a model that was asked did not."""

    key: str
    title: str
    content: str
    sources: tuple[Quotation, ...]
    confidence: float
    statements: tuple[Statement, ...] = ()
    made_by: str = RULES
    prompt: str = ""
    not_worded: str = ""


class Writer:
    """Gathers statements; the same passage is listed once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._evidence: dict[Quotation, int] = {}
        self._statements: list[Statement] = []

    def say(
        self, text: str, evidence: Iterable[Quotation], confidence: float, *, topic: str = "", quote: bool = False
    ) -> None:
        """Dropped where there is no passage to stand on."""
        places = [
            self._evidence.setdefault(each, len(self._evidence)) for each in list(evidence)[:SOURCES_PER_STATEMENT]
        ]
        if places:
            self._statements.append(Statement(text, tuple(places), round(confidence, 2), quote, topic))

    def quote(self, cue: str, limit: int, *, topic: str = "", confidence: float = 0.8) -> int:
        """The site's own sentences of this kind, the most telling pages first; how many."""
        found = self.corpus.passages[cue][:limit]
        for page, passage in found:
            self.say(passage.text, [said(page, passage)], confidence, topic=topic or cue, quote=True)
        return len(found)

    def section(self, key: str, title: str, *, nothing: str) -> Section:
        if not self._statements:
            home = self.corpus.home
            self.say(nothing, [] if home is None else [looked_at(home)], 0.5, topic="nothing found")
        mean = sum(each.confidence for each in self._statements) / max(1, len(self._statements))
        content = content_of(self._statements)
        return Section(key, title, content, tuple(self._evidence), round(mean, 2), tuple(self._statements))


def content_of(statements: Iterable[Statement]) -> str:
    return "\n".join(f"- {_shown(each)}" for each in statements)


def _shown(statement: Statement) -> str:
    marks = "".join(f"[{place + 1}]" for place in statement.sources)
    text = f"“{statement.text}”" if statement.quote else statement.text
    return f"{text} {marks}"


def seen(entity: Entity, limit: int = 2) -> list[Quotation]:
    return [Quotation(each.url, each.passage, each.at) for each in entity.sources[:limit]]


def seen_all(entities: Sequence[Entity]) -> list[Quotation]:
    return [each for entity in entities for each in seen(entity, 1)]


def said(page: PageLine, passage: Passage) -> Quotation:
    return Quotation(page.url, passage.text, passage.at)


def looked_at(page: PageLine) -> Quotation:
    """A page as evidence for what was not found: its title stands in its markup."""
    return Quotation(page.url, page.title, -1)
