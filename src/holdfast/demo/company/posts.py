"""Lists that run over several pages, and what they list: the blog, the news, and the pages in German."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from html import escape

from holdfast.demo.company.facts import CompanyFacts, spelled_date
from holdfast.demo.company.prose import prose
from holdfast.demo.company.sheet import CompanySheet
from holdfast.demo.tidepool import slug

NEWS_PER_PAGE = 3
POSTS_PER_PAGE = 7
GERMAN = {"/de/": "Willkommen", "/de/team": "Team", "/de/kontakt": "Kontakt", "/de/preise": "Preise"}
ENGLISH = {"/de/": "/", "/de/team": "/team/", "/de/kontakt": "/contact", "/de/preise": "/pricing"}


def blog(facts: CompanyFacts, edition: int) -> Iterator[CompanySheet]:
    """Each later edition has one post more, on top."""
    rows = [*((day, f"Edition {n}: {head}") for n, (day, head) in _later(facts, edition)), *facts.posts]
    pages = [rows[at : at + POSTS_PER_PAGE] for at in range(0, len(rows), POSTS_PER_PAGE)]
    for n, part in enumerate(pages, start=1):
        sheet = CompanySheet(facts, "/blog/" if n == 1 else f"/blog/page/{n}", f"Blog of {facts.short}, page {n}")
        sheet.write("<h1>Blog</h1>")
        sheet.cards(sheet.link(f"/blog/{slug(head)}", head) for _, head in part)
        if n < len(pages):
            sheet.write("<p>" + sheet.link(f"/blog/page/{n + 1}", "Older posts") + "</p>")
        yield sheet
    for n, (day, head) in enumerate(rows):
        sheet = CompanySheet(facts, f"/blog/{slug(head)}", f"{head} · {facts.short}")
        sheet.write(f"<article><h1>{escape(head)}</h1>")
        said = f"Published on {spelled_date(day, n)}"
        sheet.write(f"<p class=note>{sheet.plant('date', day.isoformat(), said)}</p>")
        author = facts.people[n % len(facts.people)]
        sheet.write(f"<p class=note>{sheet.plant('person', author.name, f'By {author.name}')}</p>")
        sheet.text(prose(facts, "post", head, sentences=9))
        sheet.write("</article>")
        yield sheet


def _later(facts: CompanyFacts, edition: int) -> list[tuple[int, tuple[date, str]]]:
    return [(n, facts.posts[n % len(facts.posts)]) for n in range(edition, 1, -1)]


def news(facts: CompanyFacts) -> Iterator[CompanySheet]:
    """`/news?page=1` to `6` differ by their query only; `/news` is page 1 once more."""
    pages = [facts.news[at : at + NEWS_PER_PAGE] for at in range(0, len(facts.news), NEWS_PER_PAGE)]
    for n, part in enumerate(pages, start=1):
        for url in ("/news", "/news?page=1") if n == 1 else (f"/news?page={n}",):
            sheet = CompanySheet(facts, url, f"News of {facts.short}, page {n}", canonical=f"/news?page={n}")
            sheet.write("<h1>News</h1>")
            sheet.cards(sheet.link(f"/news/{slug(head)}", head) for _, head in part)
            turns = [m for m in range(1, len(pages) + 1) if m != n]
            sheet.write(
                "<p>" + " ".join(sheet.link(f"/news?page={m}", str(m), href=f"?page={m}") for m in turns) + "</p>"
            )
            yield sheet
    for n, (day, head) in enumerate(facts.news):
        sheet = CompanySheet(facts, f"/news/{slug(head)}", f"{head} · {facts.short}")
        sheet.head.append(f'<meta property="article:published_time" content="{day.isoformat()}">')
        line = f"{facts.offices[0].city}, {spelled_date(day, n + 1)}"
        sheet.write(f"<h1>{escape(head)}</h1><p class=note>{sheet.plant('date', day.isoformat(), line)}</p>")
        sheet.plant("location", facts.offices[0].city, line)
        sheet.text(prose(facts, "news", head, sentences=6))
        yield sheet


def german(facts: CompanyFacts) -> Iterator[CompanySheet]:
    return (_german(facts, url, title) for url, title in GERMAN.items())


def _german(facts: CompanyFacts, url: str, title: str) -> CompanySheet:
    sheet = CompanySheet(facts, url, f"{title} · {facts.short}", lang="de")
    sheet.head += [f'<link rel="alternate" hreflang="en" href="{ENGLISH[url]}">']
    sheet.links.append(ENGLISH[url])
    sheet.write(
        f"<h1>{title}</h1>",
        f"<p>{escape(facts.org)} auf Deutsch. Seit {facts.founded.day}. ",
    )
    sheet.write(f"{facts.founded.month}. {facts.founded.year} für Sie da.</p>")
    sheet.write("<p>" + " · ".join(sheet.link(other, text) for other, text in GERMAN.items() if other != url) + "</p>")
    return sheet
