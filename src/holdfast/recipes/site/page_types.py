"""What kind of page a URL announces: one table for the order in which pages are taken and for the report (SIT-04).

About pages are taken first, then team, products, services, contact, careers, pricing, then all others; within a kind
the nearest first. Under a depth limit the level comes first and the kind decides within it: a page that is reached by a
long way first would be judged too deep. The kind is the target's `type`; of most pages it is `page`. The report tells
more kinds apart, and reads the whole path and the title. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from holdfast.model.keys import Address
from holdfast.model.target import Found, rank_of
from holdfast.recipe import Context

PAGE, HOME, OTHER = "page", "home", "other"
# Those before `news` are taken in this order; the others are told apart in the report only.
_WORDS: dict[str, str] = {
    "about": "about about-us aboutus about_us who-we-are our-story story mission history company ueber-uns uber-uns "
    "a-propos",
    "team": "team our-team the-team people our-people leadership management board staff founders executives",
    "products": "products product solutions platform features shop store catalogue catalog produkte produits",
    "services": "services service what-we-do consulting leistungen dienstleistungen",
    "contact": "contact contact-us contacts kontakt find-us offices locations impressum imprint",
    "careers": "careers career jobs join-us vacancies hiring work-with-us karriere",
    "pricing": "pricing price prices plans tariffs preise tarifs",
    "news": "news press newsroom media announcements releases",
    "blog": "blog articles insights stories posts journal",
    "legal": "legal privacy terms cookies cookie-policy privacy-policy terms-of-service gdpr",
    "customers": "customers clients case-studies partners references testimonials",
    "help": "docs documentation help support faq guides manual",
}
_KIND_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
TYPES = (*list(_WORDS)[: list(_WORDS).index("news")], PAGE)
_PLACED = {word: kind for word, kind in _KIND_OF.items() if kind in TYPES}
PRIORITIES = {kind: place for place, kind in enumerate(TYPES)}
REPORT_TYPES = (HOME, *_WORDS, OTHER)
# Pages of somebody who offers something; documentation has a home page, news and help as well.
OF_A_COMPANY = tuple(kind for kind in _WORDS if kind not in ("news", "blog", "help"))
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?")
_MAYBE_LANGUAGE = (0, 2, 5)  # characters of the first part; none where slashes are doubled
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?|jsp)$")
_FOLDERS = frozenset({"company", "corporate", "pages"})  # above the word that says it
_INDEX = frozenset({"index", "home", "default"})


def type_of(path: str) -> str:
    """The kind by which a page is placed: by the first part of its path that is neither a language nor a folder."""
    first = path[1:].partition("/")[0].lower()
    if "." in first or "?" in first or len(first) in _MAYBE_LANGUAGE or first in _FOLDERS:
        segments = _segments(path.partition("?")[0])
        first = segments[0] if segments else ""
    return _PLACED.get(first, PAGE)


def page_type(url: str, title: str = "") -> str:
    """The kind that the report names, one of REPORT_TYPES. The path decides, its first parts first: `/blog/our-team` is
    the blog's. The title decides only where the path says nothing."""
    segments = _segments(urlsplit(url).path)
    if not segments or (len(segments) == 1 and segments[0] in _INDEX):
        return HOME
    return next((_KIND_OF[part] for part in segments if part in _KIND_OF), "") or _by_title(title) or OTHER


def placed(context: Context, address: Address, depth: int, *, in_levels: bool, hops: int = 0) -> Found:
    """The page at this address as a target, with its kind, and where it comes in the order of its job."""
    kind = type_of(address.path)
    found = context.found(address, depth=depth, type=kind, hops=hops, priority=PRIORITIES[kind])
    return moved(found, depth, in_levels=True) if in_levels else found


def moved(found: Found, depth: int, *, in_levels: bool) -> Found:
    """What was placed at one depth, at another."""
    return msgspec.structs.replace(found, depth=depth, rank=_rank(found.type, depth, in_levels))


@lru_cache(maxsize=1_024)
def _rank(kind: str, depth: int, in_levels: bool) -> int:
    priority = PRIORITIES[kind]
    return depth * len(TYPES) + priority if in_levels else rank_of(depth, priority)


def _segments(path: str) -> list[str]:
    """The parts of a path in small letters, without a language before them, a mere folder, or a suffix."""
    segments = [_SUFFIX.sub("", part) for part in path.lower().split("/") if part]
    if segments and _LANGUAGE.fullmatch(segments[0]):
        segments = segments[1:]
    return segments[1:] if len(segments) > 1 and segments[0] in _FOLDERS else segments


def _by_title(title: str) -> str:
    words = re.findall(r"[a-z]+", title.lower())[:3]
    pairs = ["-".join(words[n : n + 2]) for n in range(len(words))]
    return next((_KIND_OF[word] for word in (*pairs, *words[:1]) if word in _KIND_OF), "")
