"""Which pages the manual has and which of them lead where: four levels, two versions, paged lists, one deep trail.

Decides structure and titles only; `writing` writes the pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.demo.tidepool import CHAPTERS, SECTIONS, THINGS, VERBS, Dice, slug

CHAPTERS_PER_SECTION = 10
PAGES_PER_CHAPTER = 8
LIST_LENGTH = 2  # field notes per list page, so each chapter of them has four list pages
RELEASE_PAGES = 9
RELATED_MIN = 4  # pages that a chapter keeps: each names three others
VERSIONS = ("v1", "v2")
DEEP_TRAIL = (
    ("/early", "Early birds"),
    ("/early/deep", "Below the kelp"),
    ("/early/deep/deeper", "Where the light ends"),
    ("/early/deep/deeper/deepest", "The bottom of the pool"),
)


@dataclass(slots=True)
class ManualPlace:
    """One page to be written. Lists of URLs are path-and-query; `parts` are what it lists, `pager` its list pages."""

    url: str
    title: str
    section: str = ""
    parent: str = ""
    parts: list[str] = field(default_factory=list)
    pager: list[str] = field(default_factory=list)
    before: str = ""
    after: str = ""
    twin: str = ""  # the same page in the other version
    is_article: bool = False


def lay_out(seed: int, edition: int = 1) -> dict[str, ManualPlace]:
    """Every HTML page by URL. No URL is used twice, and all can be reached from `/`.

    Each edition behind the first adds a page to the releases and takes the last page of a cookbook chapter away.
    """
    places: dict[str, ManualPlace] = {}
    for place in _all_places(seed):
        assert place.url not in places, place.url
        places[place.url] = place
    for later in range(2, edition + 1):
        _revise(places, later)
    for place in places.values():
        _join(place, places)
    return places


def _revise(places: dict[str, ManualPlace], edition: int) -> None:
    added = ManualPlace(f"/releases/edition-{edition}", f"What edition {edition} brought", parent="/")
    places[added.url] = added
    places["/releases"].parts.append(added.url)
    chapters = places["/cookbook/"].parts
    chapter = places[chapters[edition % len(chapters)]]
    if len(chapter.parts) > RELATED_MIN:
        del places[chapter.parts.pop()]


def _all_places(seed: int) -> Iterator[ManualPlace]:
    yield ManualPlace(
        "/", "Tidepool handbook", parts=[*(f"/{name}/" for name in SECTIONS), "/releases", DEEP_TRAIL[0][0]]
    )
    for name in SECTIONS:
        yield from _section(seed, name)
    pager = _pager("/releases", RELEASE_PAGES)
    for number, url in enumerate(pager, start=1):
        title = "Releases" if number == 1 else f"Releases, page {number}"
        yield ManualPlace(url, title, parent="/", pager=pager)
    yield from _deep_trail()


def _section(seed: int, name: str) -> Iterator[ManualPlace]:
    # Both versions are drawn alike, so that each page of v1 has its twin in v2.
    dice = Dice(seed, "section", "v" if name in VERSIONS else name)
    section = ManualPlace(f"/{name}/", SECTIONS[name], section=name, parent="/")
    chapters = dice.some(CHAPTERS, CHAPTERS_PER_SECTION)
    section.parts = [f"/{name}/{slug(chapter)}/" for chapter in chapters]
    yield section
    for chapter, url in zip(chapters, section.parts, strict=True):
        titles = [f"{verb} {dice.one(THINGS)}" for verb in dice.some(VERBS, PAGES_PER_CHAPTER)]
        if name == "v2":
            titles.append("Changes since v1")
        yield from _chapter(name, chapter, url, titles)


def _chapter(section: str, chapter: str, url: str, titles: list[str]) -> Iterator[ManualPlace]:
    articles = [
        ManualPlace(
            url + slug(title),
            f"{title} · {chapter} · {SECTIONS[section]}",
            section=section,
            parent=url,
            is_article=True,
        )
        for title in titles
    ]
    step = LIST_LENGTH if section == "field-notes" else len(articles)
    pager = _pager(url, -(-len(articles) // step))
    for number, list_url in enumerate(pager, start=1):
        listed = [place.url for place in articles[(number - 1) * step : number * step]]
        title = f"{chapter} · {SECTIONS[section]}" + (f", page {number}" if number > 1 else "")
        parent = f"/{section}/"
        yield ManualPlace(
            list_url, title, section=section, parent=parent, parts=listed, pager=pager if pager[1:] else []
        )
    yield from articles


def _pager(url: str, pages: int) -> list[str]:
    return [url, *(f"{url}?page={number}" for number in range(2, pages + 1))]


def _deep_trail() -> Iterator[ManualPlace]:
    """Each step is linked from the one before and from nowhere else; only the first is on the home page."""
    for step, (url, title) in enumerate(DEEP_TRAIL):
        after = [DEEP_TRAIL[step + 1][0]] if step + 1 < len(DEEP_TRAIL) else []
        yield ManualPlace(url, title, parent="/", parts=after)


def _join(place: ManualPlace, places: dict[str, ManualPlace]) -> None:
    """Set prev and next within a list page only: whoever drops `?page=2` loses what it lists."""
    if place.parent:
        for left, right in zip(place.parts, place.parts[1:], strict=False):
            places[left].after = right
            places[right].before = left
    if place.section in VERSIONS:
        other = VERSIONS[1 - VERSIONS.index(place.section)]
        twin = place.url.replace(f"/{place.section}/", f"/{other}/", 1)
        place.twin = twin if twin in places else ""
