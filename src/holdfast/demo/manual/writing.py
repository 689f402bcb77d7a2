"""Writes one place of the manual as HTML and notes every link while writing it, so nobody has to parse it back."""

from collections.abc import Mapping, Sequence
from html import escape

from msgspec.structs import replace

from holdfast.demo.manual.layout import ManualPlace
from holdfast.demo.tidepool import HEADINGS, SECTIONS, Dice, code_sample, paragraph, slug
from holdfast.demo.world import WorldPage, html_page

PARTNERS = (
    "https://example.invalid/tide-tables",
    "https://example.invalid/forum/crab-corner",
    "https://partner.invalid/buoys",
    "https://partner.invalid/shop?kit=tidepool&size=2",
)
RELATED = 3
FORBIDDEN = "/search"  # by robots.txt


class Sheet:
    """A page being written: text goes in, the links it holds come out beside it."""

    def __init__(self, place: ManualPlace, places: Mapping[str, ManualPlace]) -> None:
        self.place = place
        self.places = places
        self.lines: list[str] = []
        self.links: list[str] = []
        self.external: list[str] = []
        self.barred: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.code: list[tuple[str, str]] = []

    def write(self, line: str) -> None:
        self.lines.append(line)

    def link(self, url: str, text: str = "", *, href: str = "", fragment: str = "") -> str:
        """An anchor to a page of this site; `href` is another spelling of the same URL.

        The view of a file leads to the file itself, and what robots.txt forbids leads nowhere.
        """
        (self.barred if url.startswith(FORBIDDEN) else self.links).append(url.replace("/blob/", "/raw/"))
        spelled = (href or url) + (f"#{fragment}" if fragment else "")
        return f'<a href="{escape(spelled)}">{escape(text or self.places[url].title)}</a>'

    def link_outside(self, url: str, text: str) -> str:
        self.external.append(url)
        return f'<a href="{escape(url)}" rel="external">{escape(text)}</a>'

    def list(self, anchors: Sequence[str], tag: str = "ul") -> None:
        self.write(f"<{tag}>" + "".join(f"\n  <li>{anchor}</li>" for anchor in anchors) + f"\n</{tag}>")

    def heading(self, level: int, text: str, *, anchor: str = "") -> None:
        self.headings.append((level, text))
        mark = f' id="{anchor}"' if anchor else ""
        self.write(f"<h{level}{mark}>{escape(text)}</h{level}>")

    def page(self) -> WorldPage:
        body = "\n".join(self.lines) + "\n"
        page = html_page(body, title=self.place.title, links=self.links, external=self.external)
        facts = {"headings": self.headings, "code": self.code, "links": list(page.links)}
        return replace(page, barred=tuple(self.barred), facts=facts)


def write_page(
    place: ManualPlace, places: Mapping[str, ManualPlace], extras: Mapping[str, str], seed: int, revision: int
) -> WorldPage:
    """`extras` are further URLs of this site that the page mentions, with their texts."""
    dice = Dice(seed, "page", place.url, revision)
    sheet = Sheet(place, places)
    _open(sheet)
    headings = dice.some(HEADINGS, dice.number(4, 6))
    sheet.write("<nav class=toc>")
    sheet.list([f'<a href="#{slug(heading)}">{heading}</a>' for heading in (*headings, "Notes")], "ol")
    sheet.write("</nav>")
    sheet.write(f"<p>{paragraph(dice)}</p>")
    _list_parts(sheet)
    for heading in headings:
        _write_part(sheet, heading, dice)
    _write_notes(sheet, extras, seed, revision)
    _close(sheet)
    return sheet.page()


def _open(sheet: Sheet) -> None:
    place = sheet.place
    sheet.write('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
    sheet.write(f"<title>{escape(place.title)}</title>")
    sheet.write(f'<link rel="canonical" href="{escape(place.url)}">\n</head>\n<body>\n<header><nav class=sections>')
    sheet.list([sheet.link("/", "Home"), *(sheet.link(f"/{name}/", text) for name, text in SECTIONS.items())])
    sheet.write("</nav></header>\n<nav class=breadcrumbs>" + " / ".join(_breadcrumbs(sheet)) + "</nav>")
    if place.twin:
        sheet.write(f"<p class=version>Other version: {sheet.link(place.twin)}</p>")
    sheet.write("<main>")
    sheet.heading(1, place.title)


def _breadcrumbs(sheet: Sheet) -> list[str]:
    crumbs: list[str] = []
    above = sheet.place.parent
    while above:
        crumbs.insert(0, sheet.link(above))
        above = sheet.places[above].parent
    return [*crumbs, escape(sheet.place.title)]


def _list_parts(sheet: Sheet) -> None:
    place = sheet.place
    if place.parts:
        folder = place.url.partition("?")[0]
        # Chapters spell their pages relatively, as hand-written manuals do.
        short = folder.endswith("/") and folder != "/"
        sheet.list([sheet.link(url, href=url.removeprefix(folder) if short else "") for url in place.parts])
    if place.pager:
        pages = [(number, url) for number, url in enumerate(place.pager, start=1) if url != place.url]
        sheet.write("<p class=pager>Pages: " + " ".join(sheet.link(url, str(number)) for number, url in pages) + "</p>")


def _write_part(sheet: Sheet, heading: str, dice: Dice) -> None:
    sheet.heading(2, heading, anchor=slug(heading))
    for _ in range(dice.number(2, 3)):
        sheet.write(f"<p>{paragraph(dice)}</p>")
    if sheet.place.is_article and dice.number(1, 10) <= 6:
        language, code = code_sample(dice)
        sheet.heading(3, f"In {language}")
        sheet.code.append((language, code))
        sheet.write(f'<pre><code class="language-{language}">{escape(code)}</code></pre>')


def _write_notes(sheet: Sheet, extras: Mapping[str, str], seed: int, revision: int) -> None:
    place = sheet.place
    # Drawn apart from the prose: a revised page has new words, not new links.
    dice = Dice(seed, "links", place.url)
    anchors = [sheet.link(url, text) for url, text in extras.items()]
    if place.is_article and place.section != "field-notes":
        nearby = [url for url, other in sheet.places.items() if other.parent == place.parent and url != place.url]
        anchors += [sheet.link(url, fragment="notes") for url in dice.some(nearby, RELATED)]
    if place.url == "/" or dice.number(1, 12) == 1:
        anchors.append(sheet.link_outside(dice.one(PARTNERS), "Friends of Tidepool"))
    sheet.heading(2, "Notes", anchor="notes")
    sheet.list([*anchors, f"Revision {revision}"])


def _close(sheet: Sheet) -> None:
    place = sheet.place
    turns = [(place.before, "Previous"), (place.after, "Next")]
    anchors = [f"{word}: {sheet.link(url)}" for url, word in turns if url]
    sheet.write("</main>\n<footer>" + " | ".join([*anchors, '<a href="#">Top</a>']) + "</footer>\n</body>\n</html>")
