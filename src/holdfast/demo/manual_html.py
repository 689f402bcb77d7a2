"""Writes one place of the manual as HTML and notes every link while writing it, so nobody has to parse it back."""

from collections.abc import Mapping, Sequence
from html import escape

from holdfast.demo.manual_layout import ManualPlace
from holdfast.demo.tidepool import HEADINGS, SECTIONS, Dice, code_sample, paragraph, slug
from holdfast.demo.world import WorldPage, html_page

PARTNERS = (
    "https://example.invalid/tide-tables",
    "https://example.invalid/forum/crab-corner",
    "https://partner.invalid/buoys",
    "https://partner.invalid/shop?kit=tidepool&size=2",
)
RELATED = 3


class Sheet:
    """A page being written: text goes in, the links it holds come out beside it."""

    def __init__(self, place: ManualPlace, places: Mapping[str, ManualPlace]) -> None:
        self.place = place
        self.places = places
        self.lines: list[str] = []
        self.links: list[str] = []
        self.external: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line)

    def link(self, url: str, text: str = "", *, href: str = "", fragment: str = "") -> str:
        """An anchor to a page of this site; `href` is another spelling of the same URL."""
        self.links.append(url)
        spelled = (href or url) + (f"#{fragment}" if fragment else "")
        return f'<a href="{escape(spelled)}">{escape(text or self.places[url].title)}</a>'

    def link_outside(self, url: str, text: str) -> str:
        self.external.append(url)
        return f'<a href="{escape(url)}" rel="external">{escape(text)}</a>'

    def list(self, anchors: Sequence[str], tag: str = "ul") -> None:
        self.write(f"<{tag}>" + "".join(f"\n  <li>{anchor}</li>" for anchor in anchors) + f"\n</{tag}>")

    def page(self) -> WorldPage:
        return html_page("\n".join(self.lines) + "\n", title=self.place.title, links=self.links, external=self.external)


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
    sheet.write(f"<main>\n<h1>{escape(place.title)}</h1>")


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
    sheet.write(f'<h2 id="{slug(heading)}">{heading}</h2>')
    for _ in range(dice.number(2, 3)):
        sheet.write(f"<p>{paragraph(dice)}</p>")
    if sheet.place.is_article and dice.number(1, 10) <= 6:
        language, code = code_sample(dice)
        sheet.write(f'<h3>In {language}</h3>\n<pre><code class="language-{language}">{escape(code)}</code></pre>')


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
    sheet.write('<h2 id="notes">Notes</h2>')
    sheet.list([*anchors, f"Revision {revision}"])


def _close(sheet: Sheet) -> None:
    place = sheet.place
    turns = [(place.before, "Previous"), (place.after, "Next")]
    anchors = [f"{word}: {sheet.link(url)}" for url, word in turns if url]
    sheet.write("</main>\n<footer>" + " | ".join([*anchors, '<a href="#">Top</a>']) + "</footer>\n</body>\n</html>")
