"""What goes wrong on real sites, each thing once: copies, chains, loops, traps, wrong words about itself.

A trap has no end, so its pages are made when asked for: `endless` knows all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from holdfast.demo.company.facts import MONTHS, CompanyFacts
from holdfast.demo.company.pdf import write_pdf
from holdfast.demo.company.prose import prose
from holdfast.demo.company.sheet import CompanySheet, Planted
from holdfast.demo.faults import chance
from holdfast.demo.world import HTML, WorldPage, redirect_page

SLOW_TIMES = 300  # the slow page takes so much longer than any other: 30 s where those take 100 ms
LARGE_BYTES = 8_000_000
HEALS_AFTER = 2
FIRST_YEAR, LAST_YEAR = 2000, 2100
FILTERS = ("small", "large")
FILTERS_MAX = 3  # of one name in a URL: what a careful crawler still follows (policy/traps.py)
TOUR_STEPS = 3
SESSION = re.compile(r"[0-9a-f]{32}")
ONLY_IN_SITEMAP = "/campaign/spring"
SOFT_404 = "/products/discontinued"
SCRIPTED = "/status"
PORTAL = "https://partner.invalid/portal"


def odd_sheets(facts: CompanyFacts) -> Iterator[CompanySheet]:
    """Pages that are whole in themselves, and odd in how they are written or found."""
    top = facts.products[0].slug
    yield _plain(
        facts, f"/products/{top}/specs/history", "Earlier revisions", {"/archive/first-catalogue": "The first"}
    )
    yield _plain(facts, "/archive/first-catalogue", "The first catalogue", {"/archive/umlauts": "Old spellings"})
    yield _plain(facts, ONLY_IN_SITEMAP, "Spring campaign", {})
    alumni = _plain(facts, "/team/alumni", "Alumni", {})
    alumni.robots = "noindex"
    yield alumni
    yield _notes(facts)
    yield _press(facts)
    yield _plain(facts, "/press/kit/story", "Our story in pictures", {})
    yield _plain(facts, "/press/kit/logo", "Logos", {})
    yield _plain(facts, "/legal/privacy", "Privacy", {"/loop-a": "How we store data", "/empty": "Cookies"})
    yield _plain(facts, "/legal/terms", "Terms", {"/slow-report": "The long version"})
    yield _plain(facts, "/events", "Events", {"/calendar?y=2031&m=4": "Calendar", "/tour": "Guided tour"})
    yield _shop(facts, ())
    yield _scripted(facts)


def odd_answers(facts: CompanyFacts, written: Mapping[str, WorldPage], delay_ms: int) -> dict[str, WorldPage]:
    """Answers that are not pages of their own: copies of pages, redirects, files, and what breaks."""
    portal = WorldPage(302, (("content-type", HTML), ("location", PORTAL)), b"<p>Moved.</p>\n", external=(PORTAL,))
    slow = _plain(facts, "/slow-report", "The long version", {}).page()
    heals = _plain(facts, "/announcements", "Announcements", {"/catalogue/all": "The whole catalogue"}).page()
    return {
        "/about": written["/about-us/"],
        "/Services/": written["/services/"],
        "/pricing?utm_source=newsletter": written["/pricing"],
        "/team": redirect_page("/team/"),
        "/old-about": replace(redirect_page("/older-about"), status=302),
        "/older-about": replace(redirect_page("/oldest-about"), status=302),
        "/oldest-about": replace(redirect_page("/about"), status=302),
        "/loop-a": replace(redirect_page("/loop-b"), status=302),
        "/loop-b": replace(redirect_page("/loop-a"), status=302),
        "/partner-portal": portal,
        "/slow-report": replace(slow, wait_ms=SLOW_TIMES * delay_ms),
        "/announcements": replace(heals, fails_first=HEALS_AFTER),
        "/private/board": _plain(facts, "/private/board", "Board papers", {}).page(),
        "/archive/umlauts": _wrong_charset(facts),
        "/catalogue/all": _large(facts),
        SOFT_404: soft_404(facts),
        "/empty": WorldPage(200, (("content-type", HTML),), b""),
        "/files/annual-report.pdf": _pdf("Annual report", facts),
        "/files/datasheet.pdf": _pdf(facts.products[0].name, facts),
    }


def endless(facts: CompanyFacts, path: str, query: str) -> WorldPage | None:
    """A page of one of the three traps; None where none of them has it."""
    if path == "/calendar":
        return _calendar(facts, query)
    if path == "/shop" and query:
        chosen = tuple(query.removeprefix("size=").split("&size="))
        return _shop(facts, chosen).page() if set(chosen) <= set(FILTERS) else None
    return _tour(facts, path, query) if path.startswith("/tour") else None


def followed_as(where: str) -> str:
    """The address under which a careful crawler follows a link: without the session it carries."""
    path, _, query = where.partition("?sid=")
    return path if SESSION.fullmatch(query) else where


def is_piled(where: str) -> bool:
    """Whether a careful crawler leaves it: filters upon filters."""
    return where.count("size=") > FILTERS_MAX


def soft_404(facts: CompanyFacts) -> WorldPage:
    """What the site says of every page that it does not have, with the status of one that it has."""
    sheet = CompanySheet(facts, SOFT_404, "Page not found")
    sheet.write("<h1>Page not found</h1>", "<p>Sorry, the page you were looking for does not exist.</p>")
    return sheet.page()


def _plain(facts: CompanyFacts, url: str, title: str, links: Mapping[str, str]) -> CompanySheet:
    sheet = CompanySheet(facts, url, f"{title} · {facts.short}")
    sheet.write(f"<h1>{title}</h1>")
    sheet.text(prose(facts, url, sentences=7))
    sheet.write(*(f"<p>{sheet.link(there, text)}</p>" for there, text in links.items()))
    return sheet


def _notes(facts: CompanyFacts) -> CompanySheet:
    """A page that asks for its links to be left; one page is linked from here alone, and so is never asked for."""
    sheet = _plain(facts, "/notes", "Release notes", {"/notes/unreleased": "Not yet released"})
    sheet.robots = "nofollow"
    sheet.follows = False
    return sheet


def _press(facts: CompanyFacts) -> CompanySheet:
    """Its base is another folder; one link names the host and no scheme."""
    sheet = CompanySheet(facts, "/press/", f"Press · {facts.short}", base_href="/press/kit/", rooted=True)
    sheet.write("<h1>Press</h1>", "<p>" + sheet.link("/press/kit/story", "Story", href="story") + "</p>")
    sheet.write("<p>" + sheet.link("/press/kit/logo", "Logos", href="//@host@/press/kit/logo#svg") + "</p>")
    sheet.text(prose(facts, "press"))
    return sheet


def _scripted(facts: CompanyFacts) -> CompanySheet:
    """Empty until a browser runs it. What it draws, and the link in it, no reader of HTML sees."""
    sheet = CompanySheet(facts, SCRIPTED, f"Status · {facts.short}")
    text = drawn_text(facts)
    sheet.write(
        "<div id=app></div>",
        "<script>",
        'const app=document.getElementById("app");',
        f'const h=document.createElement("h1");h.textContent="{text}";app.append(h);',
        'const a=document.createElement("a");a.href=["","status","history"].join("/");',
        'a.textContent="History";app.append(a);',
        "</script>",
    )
    return sheet


def drawn_text(facts: CompanyFacts) -> str:
    return f"All systems of {facts.short} are running"


def _calendar(facts: CompanyFacts, query: str) -> WorldPage | None:
    said = re.fullmatch(r"y=(\d{4})&m=(\d{1,2})", query)
    if said is None or not 1 <= int(said[2]) <= 12:
        return None
    year, month = int(said[1]), int(said[2])
    sheet = CompanySheet(facts, f"/calendar?{query}", f"{MONTHS[month - 1]} {year} · {facts.short}")
    sheet.write(f"<h1>{MONTHS[month - 1]} {year}</h1>", "<p>No events in this month.</p>")
    for word, months in (("Earlier", -1), ("Later", 1)):
        there = year * 12 + month - 1 + months
        sheet.write("<p>" + sheet.link(f"/calendar?y={there // 12}&m={there % 12 + 1}", word) + "</p>")
    return sheet.page()


def month_of(where: str) -> Planted | None:
    """The date that a page of the calendar states; None of every other page."""
    said = re.fullmatch(r"/calendar\?y=(\d{4})&m=(\d{1,2})", where)
    if said is None:
        return None
    return Planted("date", f"{said[1]}-{int(said[2]):02d}", f"{MONTHS[int(said[2]) - 1]} {said[1]}")


def _shop(facts: CompanyFacts, chosen: tuple[str, ...]) -> CompanySheet:
    """Filters that can be set again and again: each page has a link for one more."""
    query = "&".join(f"size={each}" for each in chosen)
    sheet = CompanySheet(facts, f"/shop?{query}" if query else "/shop", f"Shop · {facts.short} {' '.join(chosen)}")
    sheet.write("<h1>Shop</h1>")
    sheet.text(prose(facts, "shop", *chosen))
    for each in FILTERS:
        there = f"/shop?{query}&size={each}" if query else f"/shop?size={each}"
        sheet.write("<p>" + sheet.link(there, f"Only {each}") + "</p>")
    return sheet


def _tour(facts: CompanyFacts, path: str, query: str) -> WorldPage | None:
    """Three steps in a circle. Every page names the next with a session of its own, so that no URL comes twice."""
    steps = ["/tour", *(f"/tour/{n}" for n in range(2, TOUR_STEPS + 1))]
    if path not in steps or (query and not SESSION.fullmatch(query.removeprefix("sid="))):
        return None
    after = steps[(steps.index(path) + 1) % len(steps)]
    sheet = CompanySheet(facts, path, f"Tour, {path} · {facts.short}")
    session = f"{int(chance(facts.seed, path, query) * 2**64):032x}"
    sheet.write("<h1>A tour of the works</h1>")
    sheet.text(prose(facts, path))
    sheet.write("<p>" + sheet.link(after, "Next stop", href=f"{after}?sid={session}") + "</p>")
    return sheet.page()


def _wrong_charset(facts: CompanyFacts) -> WorldPage:
    """Says UTF-8 in the header and is Latin-1."""
    sheet = _plain(facts, "/archive/umlauts", "Old spellings", {})
    sheet.title = "Old spellings"
    sheet.write("<p>Größe, Maß, Übersicht, déjà vu</p>")
    page = sheet.page()
    return replace(page, body=page.body.decode().encode("latin-1", "replace"))


def _large(facts: CompanyFacts) -> WorldPage:
    sheet = CompanySheet(facts, "/catalogue/all", f"Everything · {facts.short}")
    line = f"<tr><td>{prose(facts, 'large', sentences=2)}</td></tr>\n"
    sheet.write("<h1>Everything</h1>", "<table>", line * (LARGE_BYTES // len(line)), "</table>")
    return sheet.page()


def _pdf(title: str, facts: CompanyFacts) -> WorldPage:
    told = prose(facts, "pdf", title, sentences=6).split(". ")
    body = write_pdf(
        title,
        [
            [title, facts.org, *told],
            ["Figures", *(f"{each.name}: {facts.value(each.price)}" for each in facts.products)],
        ],
    )
    return WorldPage(200, (("content-type", "application/pdf"),), body)
